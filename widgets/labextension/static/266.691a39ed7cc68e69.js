"use strict";(self.rspackChunkworkbench=self.rspackChunkworkbench||[]).push([[266],{28(e,r,o){var n=o(29),t=o.n(n),a=o(30),i=o.n(a)()(t());i.push([e.id,`.workbench-tab {
  overflow: auto;
}

.workbench-document {
  overflow: auto;
  padding: 8px;
}

/* a file's panel is in a tab already */
.workbench-document .workbench-toolbar [data-view='tab'] {
  display: none !important;
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

.workbench-live {
  background: var(--jp-layout-color1);
  color: var(--jp-ui-font-color1);
  font-size: var(--jp-ui-font-size1);
  min-width: 220px !important;
  overflow: auto;
  overflow-wrap: anywhere;
}

.workbench-live-title {
  border-bottom: 1px solid var(--jp-border-color2);
  font-size: var(--jp-ui-font-size0);
  font-weight: 600;
  letter-spacing: 0.5px;
  margin: 0;
  padding: 8px 12px;
  text-transform: uppercase;
}

.workbench-live-none {
  color: var(--jp-ui-font-color2);
  margin: 12px;
}

.workbench-live-path {
  font-size: var(--jp-ui-font-size1);
  font-weight: 600;
  margin: 12px 12px 4px;
}

.workbench-live-runs {
  list-style: none;
  margin: 0;
  padding: 0;
}

.workbench-live-run {
  border-left: 3px solid var(--jp-border-color1);
  margin: 0 12px 8px;
  padding: 2px 0 2px 8px;
}

.workbench-live-run[data-state='running'] {
  border-left-color: var(--jp-brand-color1);
}

.workbench-live-run[data-state='failed'] {
  border-left-color: var(--jp-error-color1);
}

.workbench-live-go {
  background: none;
  border: 0;
  color: inherit;
  cursor: pointer;
  display: flex;
  font: inherit;
  gap: 8px;
  justify-content: space-between;
  padding: 2px 0;
  text-align: left;
  width: 100%;
}

.workbench-live-go:hover .workbench-live-name {
  text-decoration: underline;
}

.workbench-live-name {
  color: var(--jp-content-link-color);
}

.workbench-live-facts,
.workbench-live-state {
  color: var(--jp-ui-font-color2);
}
`,""]),o.d(r,{},{A:i})},30(e){e.exports=function(e){var r=[];return r.toString=function(){return this.map(function(r){var o="",n=void 0!==r[5];return r[4]&&(o+="@supports (".concat(r[4],") {")),r[2]&&(o+="@media ".concat(r[2]," {")),n&&(o+="@layer".concat(r[5].length>0?" ".concat(r[5]):""," {")),o+=e(r),n&&(o+="}"),r[2]&&(o+="}"),r[4]&&(o+="}"),o}).join("")},r.i=function(e,o,n,t,a){"string"==typeof e&&(e=[[null,e,void 0]]);var i={};if(n)for(var c=0;c<this.length;c++){var p=this[c][0];null!=p&&(i[p]=!0)}for(var l=0;l<e.length;l++){var s=[].concat(e[l]);n&&i[s[0]]||(void 0!==a&&(void 0===s[5]||(s[1]="@layer".concat(s[5].length>0?" ".concat(s[5]):""," {").concat(s[1],"}")),s[5]=a),o&&(s[2]&&(s[1]="@media ".concat(s[2]," {").concat(s[1],"}")),s[2]=o),t&&(s[4]?(s[1]="@supports (".concat(s[4],") {").concat(s[1],"}"),s[4]=t):s[4]="".concat(t)),r.push(s))}},r}},29(e){e.exports=function(e){return e[1]}},21(e,r,o){o.r(r);var n=o(22),t=o.n(n),a=o(23),i=o.n(a),c=o(24),p=o.n(c),l=o(25),s=o.n(l),u=o(26),d=o.n(u),f=o(27),v=o.n(f),h=o(28),b={};b.styleTagTransform=v(),b.setAttributes=s(),b.insert=p().bind(null,"head"),b.domAPI=i(),b.insertStyleElement=d(),t()(h.A,b);let m=h.A&&h.A.locals?h.A.locals:void 0;o.d(r,{},{default:m})},22(e){var r=[];function o(e){for(var o=-1,n=0;n<r.length;n++)if(r[n].identifier===e){o=n;break}return o}function n(e,n){for(var t={},a=[],i=0;i<e.length;i++){var c=e[i],p=n.base?c[0]+n.base:c[0],l=t[p]||0,s="".concat(p," ").concat(l);t[p]=l+1;var u=o(s),d={css:c[1],media:c[2],sourceMap:c[3],supports:c[4],layer:c[5]};if(-1!==u)r[u].references++,r[u].updater(d);else{var f=function(e,r){var o=r.domAPI(r);return o.update(e),function(r){r?(r.css!==e.css||r.media!==e.media||r.sourceMap!==e.sourceMap||r.supports!==e.supports||r.layer!==e.layer)&&o.update(e=r):o.remove()}}(d,n);n.byIndex=i,r.splice(i,0,{identifier:s,updater:f,references:1})}a.push(s)}return a}e.exports=function(e,t){var a=n(e=e||[],t=t||{});return function(e){e=e||[];for(var i=0;i<a.length;i++){var c=o(a[i]);r[c].references--}for(var p=n(e,t),l=0;l<a.length;l++){var s=o(a[l]);0===r[s].references&&(r[s].updater(),r.splice(s,1))}a=p}}},24(e){var r={};e.exports=function(e,o){var n=function(e){if(void 0===r[e]){var o=document.querySelector(e);if(window.HTMLIFrameElement&&o instanceof window.HTMLIFrameElement)try{o=o.contentDocument.head}catch(e){o=null}r[e]=o}return r[e]}(e);if(!n)throw Error("Couldn't find a style target. This probably means that the value for the 'insert' parameter is invalid.");n.appendChild(o)}},26(e){e.exports=function(e){var r=document.createElement("style");return e.setAttributes(r,e.attributes),e.insert(r,e.options),r}},25(e,r,o){e.exports=function(e){var r=o.nc;r&&e.setAttribute("nonce",r)}},23(e){e.exports=function(e){if("u"<typeof document)return{update:function(){},remove:function(){}};var r=e.insertStyleElement(e);return{update:function(o){var n,t,a;n="",o.supports&&(n+="@supports (".concat(o.supports,") {")),o.media&&(n+="@media ".concat(o.media," {")),(t=void 0!==o.layer)&&(n+="@layer".concat(o.layer.length>0?" ".concat(o.layer):""," {")),n+=o.css,t&&(n+="}"),o.media&&(n+="}"),o.supports&&(n+="}"),(a=o.sourceMap)&&"u">typeof btoa&&(n+="\n/*# sourceMappingURL=data:application/json;base64,".concat(btoa(unescape(encodeURIComponent(JSON.stringify(a))))," */")),e.styleTagTransform(n,r,e.options)},remove:function(){var e;null===(e=r).parentNode||e.parentNode.removeChild(e)}}}},27(e){e.exports=function(e,r){if(r.styleSheet)r.styleSheet.cssText=e;else{for(;r.firstChild;)r.removeChild(r.firstChild);r.appendChild(document.createTextNode(e))}}}}]);