// Ticks at whole numbers, for axes that count.

// A step of whole numbers: 1, 2 or 5 times a power of ten, so that the labels have room.
export function wholeStep(span, pixels, last) {
  const label = 8 * String(Math.max(1, Math.round(Math.abs(last)))).length + 22;
  const least = Math.max(1, span / Math.max(1, Math.floor(pixels / label)));
  const power = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 5, 10].map((k) => k * power).find((step) => step >= least * (1 - 1e-9));
}

// The ticks of some axes of a drawn figure, as properties of its layout; none where they are as they should be.
function wholeTicks(el, names) {
  const update = {};
  for (const name of names) {
    const axis = el._fullLayout[name];
    if (!axis?._length) continue;
    const [low, high] = [...axis.range].sort((a, b) => a - b);
    const step = wholeStep(high - low, axis._length, high);
    // named one by one: a small step that is left behind would give a long axis more labels than can be laid out
    const values = [];
    for (let tick = Math.ceil(low / step - 1e-9) * step; tick <= high + 1e-9 * step; tick += step) values.push(Math.round(tick));
    if (axis.tickmode === "array" && String(axis.tickvals) === String(values)) continue;
    Object.assign(update, { [`${name}.tickmode`]: "array", [`${name}.tickvals`]: values });
    update[`${name}.ticktext`] = values.map((value) => numeral(value));
  }
  return update;
}
