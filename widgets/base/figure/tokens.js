// Colours by what they say (theme.py): "@data" in a property whose name ends with "color" is that of the theme. The copy shares
// nothing but typed arrays, because plotly.js writes into the objects that it draws.

function dressed(value, tokens, key = "") {
  if (Array.isArray(value)) return value.map((item) => dressed(item, tokens, key));
  if (typeof value === "string" && value[0] === "@" && key.endsWith("color")) return tokens[value.slice(1)] ?? value;
  if (value === null || typeof value !== "object" || ArrayBuffer.isView(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, dressed(item, tokens, name)]));
}
