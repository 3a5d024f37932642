"use strict";(self.rspackChunkworkbench=self.rspackChunkworkbench||[]).push([[266],{25(e,t,r){var n=r(26),o=r.n(n),a=r(27),c=r.n(a)()(o());c.push([e.id,`.workbench-tab {
  overflow: auto;
}

.workbench-document {
  overflow: auto;
  padding: 8px;
}

.workbench-page {
  color: var(--jp-ui-font-color1);
  font-size: var(--jp-ui-font-size2);
  max-width: 60em;
  overflow-wrap: anywhere;
  padding: 12px 20px;
  white-space: pre-wrap;
}

.workbench-page h2 {
  font-size: var(--jp-ui-font-size3);
  margin: 0 0 8px;
}

.workbench-page p {
  margin: 0 0 8px;
}

.workbench-gone-banner {
  background: var(--jp-warn-color3);
  border-left: 4px solid var(--jp-warn-color1);
  color: #111;
  margin-bottom: 8px;
}
`,""]),r.d(t,{},{A:c})},27(e){e.exports=function(e){var t=[];return t.toString=function(){return this.map(function(t){var r="",n=void 0!==t[5];return t[4]&&(r+="@supports (".concat(t[4],") {")),t[2]&&(r+="@media ".concat(t[2]," {")),n&&(r+="@layer".concat(t[5].length>0?" ".concat(t[5]):""," {")),r+=e(t),n&&(r+="}"),t[2]&&(r+="}"),t[4]&&(r+="}"),r}).join("")},t.i=function(e,r,n,o,a){"string"==typeof e&&(e=[[null,e,void 0]]);var c={};if(n)for(var i=0;i<this.length;i++){var s=this[i][0];null!=s&&(c[s]=!0)}for(var u=0;u<e.length;u++){var p=[].concat(e[u]);n&&c[p[0]]||(void 0!==a&&(void 0===p[5]||(p[1]="@layer".concat(p[5].length>0?" ".concat(p[5]):""," {").concat(p[1],"}")),p[5]=a),r&&(p[2]&&(p[1]="@media ".concat(p[2]," {").concat(p[1],"}")),p[2]=r),o&&(p[4]?(p[1]="@supports (".concat(p[4],") {").concat(p[1],"}"),p[4]=o):p[4]="".concat(o)),t.push(p))}},t}},26(e){e.exports=function(e){return e[1]}},18(e,t,r){r.r(t);var n=r(19),o=r.n(n),a=r(20),c=r.n(a),i=r(21),s=r.n(i),u=r(22),p=r.n(u),l=r(23),d=r.n(l),f=r(24),v=r.n(f),h=r(25),m={};m.styleTagTransform=v(),m.setAttributes=p(),m.insert=s().bind(null,"head"),m.domAPI=c(),m.insertStyleElement=d(),o()(h.A,m);let b=h.A&&h.A.locals?h.A.locals:void 0;r.d(t,{},{default:b})},19(e){var t=[];function r(e){for(var r=-1,n=0;n<t.length;n++)if(t[n].identifier===e){r=n;break}return r}function n(e,n){for(var o={},a=[],c=0;c<e.length;c++){var i=e[c],s=n.base?i[0]+n.base:i[0],u=o[s]||0,p="".concat(s," ").concat(u);o[s]=u+1;var l=r(p),d={css:i[1],media:i[2],sourceMap:i[3],supports:i[4],layer:i[5]};if(-1!==l)t[l].references++,t[l].updater(d);else{var f=function(e,t){var r=t.domAPI(t);return r.update(e),function(t){t?(t.css!==e.css||t.media!==e.media||t.sourceMap!==e.sourceMap||t.supports!==e.supports||t.layer!==e.layer)&&r.update(e=t):r.remove()}}(d,n);n.byIndex=c,t.splice(c,0,{identifier:p,updater:f,references:1})}a.push(p)}return a}e.exports=function(e,o){var a=n(e=e||[],o=o||{});return function(e){e=e||[];for(var c=0;c<a.length;c++){var i=r(a[c]);t[i].references--}for(var s=n(e,o),u=0;u<a.length;u++){var p=r(a[u]);0===t[p].references&&(t[p].updater(),t.splice(p,1))}a=s}}},21(e){var t={};e.exports=function(e,r){var n=function(e){if(void 0===t[e]){var r=document.querySelector(e);if(window.HTMLIFrameElement&&r instanceof window.HTMLIFrameElement)try{r=r.contentDocument.head}catch(e){r=null}t[e]=r}return t[e]}(e);if(!n)throw Error("Couldn't find a style target. This probably means that the value for the 'insert' parameter is invalid.");n.appendChild(r)}},23(e){e.exports=function(e){var t=document.createElement("style");return e.setAttributes(t,e.attributes),e.insert(t,e.options),t}},22(e,t,r){e.exports=function(e){var t=r.nc;t&&e.setAttribute("nonce",t)}},20(e){e.exports=function(e){if("u"<typeof document)return{update:function(){},remove:function(){}};var t=e.insertStyleElement(e);return{update:function(r){var n,o,a;n="",r.supports&&(n+="@supports (".concat(r.supports,") {")),r.media&&(n+="@media ".concat(r.media," {")),(o=void 0!==r.layer)&&(n+="@layer".concat(r.layer.length>0?" ".concat(r.layer):""," {")),n+=r.css,o&&(n+="}"),r.media&&(n+="}"),r.supports&&(n+="}"),(a=r.sourceMap)&&"u">typeof btoa&&(n+="\n/*# sourceMappingURL=data:application/json;base64,".concat(btoa(unescape(encodeURIComponent(JSON.stringify(a))))," */")),e.styleTagTransform(n,t,e.options)},remove:function(){var e;null===(e=t).parentNode||e.parentNode.removeChild(e)}}}},24(e){e.exports=function(e,t){if(t.styleSheet)t.styleSheet.cssText=e;else{for(;t.firstChild;)t.removeChild(t.firstChild);t.appendChild(document.createTextNode(e))}}}}]);