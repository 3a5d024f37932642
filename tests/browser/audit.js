// Faults of the picture of the panel that is in sight, a line for each (audit.py).
() => {
  const panel = [...document.querySelectorAll('.workbench-debugger')].find((p) => p.offsetWidth);
  const faults = [];
  const say = (kind, ...words) => faults.push(`${kind}: ${words.map((w) => String(w).trim().slice(0, 60)).join(' | ')}`);
  const clips = (style) => style.overflowX !== 'visible' || style.overflowY !== 'visible';
  const meet = (a, b) => ({ left: Math.max(a.left, b.left), top: Math.max(a.top, b.top),
                            right: Math.min(a.right, b.right), bottom: Math.min(a.bottom, b.bottom) });
  const wide = (r) => r.right - r.left, high = (r) => r.bottom - r.top;
  // the part of a rectangle that is in sight, and the first element that cuts it for good
  const seen = (element, rect) => {
    let part = rect, cutter = null;
    for (let e = element; e && e !== panel.parentElement; e = e.parentElement) {
      const style = getComputedStyle(e);
      if (style.visibility === 'hidden' || style.display === 'none' || Number(style.opacity) === 0) return [null, null];
      if (e === element && !(e instanceof HTMLElement)) continue;
      if (!clips(style) && !(e instanceof SVGSVGElement)) continue;
      const box = e.getBoundingClientRect();
      const inner = meet(part, box);
      const scrolls = /auto|scroll/.test(style.overflowX + style.overflowY);
      const lost = wide(part) - wide(inner) > 2 || high(part) - high(inner) > 2;
      // out of sight in what scrolls is not a fault, and further out it cannot be cut
      if (lost && scrolls) return [wide(inner) > 2 && high(inner) > 2 ? inner : null, null];
      if (lost && !cutter && style.clipPath === 'none') cutter = e;
      part = inner;
      if (wide(part) <= 1 || high(part) <= 1) return [null, cutter];
    }
    return [part, cutter];
  };
  const texts = [];
  const walker = document.createTreeWalker(panel, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const parent = node.parentElement;
    if (!node.data.trim() || !parent || parent.closest('style, script, option, .hoverlayer, .modebar, defs, datalist')) continue;
    const closed = parent.closest('details:not([open])');
    if (closed && !(parent.closest('summary')?.parentElement === closed && !closed.parentElement.closest('details:not([open])'))) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    for (const rect of range.getClientRects()) {
      if (wide(rect) < 1 || high(rect) < 1) continue;
      const [part, cutter] = seen(parent, rect);
      const told = cutter && (parent.closest('[title]') || getComputedStyle(cutter).textOverflow === 'ellipsis');
      if (cutter && !told && part) say('cut', node.data, cutter.className.baseVal ?? cutter.className);
      const turned = parent.closest('text')?.getAttribute('transform')?.match(/rotate\((-?[\d.]+)/)?.[1] % 90;
      if (part) texts.push({ node, part, turned, top: parent.closest('.workbench-menu, .workbench-keys') });
    }
  }
  for (const field of panel.querySelectorAll('button, summary, th')) {
    if (field.offsetWidth && field.scrollWidth > field.clientWidth + 2 && getComputedStyle(field).overflowX !== 'visible' && !field.title)
      say('cut', field.textContent);
  }
  for (const field of panel.querySelectorAll('input[placeholder]')) {
    if (!field.offsetWidth || field.value) continue;
    const pen = document.createElement('canvas').getContext('2d');
    const style = getComputedStyle(field);
    pen.font = style.font;
    const room = field.clientWidth - Number.parseFloat(style.paddingLeft) - Number.parseFloat(style.paddingRight);
    if (pen.measureText(field.placeholder).width > room + 1) say('cut', field.placeholder);
  }
  // names that programs give to loops: people know them by their condition (what is written into files and code is excepted)
  const named = /\b(while|for|scan|loop)(_loop)?(_+\d+|\/)/;
  for (const { node } of texts) {
    if (named.test(node.data) && !node.parentElement.closest('.workbench-is-code, .workbench-is-memory, .workbench-is-export, pre'))
      say('machine', node.data);
  }
  texts.sort((a, b) => a.part.left - b.part.left);
  for (let i = 0; i < texts.length; i++) {
    for (let j = i + 1; j < texts.length && texts[j].part.left < texts[i].part.right - 2; j++) {
      const both = meet(texts[i].part, texts[j].part);
      // the boxes around slanted texts of one axis meet, the texts do not
      if (texts[i].turned && texts[j].turned) continue;
      if (wide(both) > 3 && high(both) > 4 && texts[i].top === texts[j].top && texts[i].node !== texts[j].node)
        say('overlap', texts[i].node.data, texts[j].node.data);
    }
  }
  for (const figure of panel.querySelectorAll('.workbench-figure')) {
    if (!figure.offsetWidth || !figure._fullLayout) continue;
    const images = figure._fullData.filter((t) => /heatmap|image|table/.test(t.type) || t.orientation === 'h').map((t) => t.yaxis ?? 'y');
    for (const name of Object.keys(figure._fullLayout).filter((n) => /^yaxis\d*$/.test(n))) {
      const { range, type, visible } = figure._fullLayout[name];
      // rows of images, of bars that lie, of boxes and of loops go down
      if (images.includes(name.replace('axis', '')) || figure.closest('.workbench-is-graph, .workbench-is-timeline')) continue;
      if (visible !== false && type !== 'category' && range[0] > range[1]) say('descends', name, range);
    }
    for (const shape of figure.querySelectorAll('svg *')) {
      for (const { name, value } of shape.attributes)
        if (/^(d|x|y|width|height|transform|points|cx|cy|r)$/.test(name) && /NaN|undefined/.test(value)) say('NaN', shape.tagName, name, value);
    }
  }
  const page = panel.closest('.jp-WindowedPanel-outer')?.clientHeight ?? innerHeight;
  if (panel.getBoundingClientRect().height > page + 1) say('high', panel.getBoundingClientRect().height, page);
  if (panel.scrollHeight > panel.clientHeight + 1) say('below', panel.scrollHeight, panel.clientHeight);
  if (panel.scrollWidth > panel.clientWidth + 1) say('beside', panel.scrollWidth, panel.clientWidth);
  return [...new Set(faults)];
}
