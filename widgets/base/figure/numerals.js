// Numbers as text/numerals.py writes them: integers in full with thin spaces, a typographic minus, exponents without zeros.

function grouped(text) {
  const [whole, rest] = text.replace("-", "").split(".");
  const spaced = whole.length > 4 ? whole.replace(/\B(?=(\d{3})+$)/g, "\u202f") : whole;
  return (text[0] === "-" ? "\u2212" : "") + spaced + (rest ? `.${rest}` : "");
}

function numeral(value, digits = 7) {
  if (value === null || value === undefined) return "\u2013";
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "infinite" : "\u2212infinite";
  if (Number.isInteger(value) && Math.abs(value) < 1e15) return grouped(value ? value.toFixed(0) : "0");
  const [mantissa, exponent] = value.toExponential(digits - 1).split("e");
  const power = Number(exponent);
  const bare = (text) => (text.includes(".") ? text.replace(/0+$/, "").replace(/\.$/, "") : text);
  if (power >= -4 && power < digits) return grouped(bare(value.toFixed(digits - 1 - power)));
  return `${bare(mantissa)}e${power}`.replaceAll("-", "\u2212");
}
