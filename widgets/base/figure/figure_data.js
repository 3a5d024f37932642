// Figures as plain data: arrays out of the binary buffers of a message (figure_data.py is the other end), and
// properties by their dotted names.

const ARRAYS = {
  float64: Float64Array,
  float32: Float32Array,
  int32: Int32Array,
  int16: Int16Array,
  int8: Int8Array,
  uint32: Uint32Array,
  uint16: Uint16Array,
  uint8: Uint8Array,
};

function unpack(value, buffers) {
  if (Array.isArray(value)) return value.map((item) => unpack(item, buffers));
  if (value === null || typeof value !== "object") return value;
  if (value.dtype in ARRAYS && Number.isInteger(value.buffer)) {
    const { buffer, byteOffset, byteLength } = buffers[value.buffer];
    // a copy, because a message may hold the bytes where no number may begin
    return rows(new ARRAYS[value.dtype](buffer.slice(byteOffset, byteOffset + byteLength)), value.shape);
  }
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, unpack(item, buffers)]));
}

// A typed array in the shape that it has in Python: arrays of its rows.
function rows(numbers, shape) {
  if (shape.length < 2) return numbers;
  const [count, ...rest] = shape;
  const size = numbers.length / count;
  return Array.from({ length: count }, (_, k) => rows(numbers.subarray(k * size, (k + 1) * size), rest));
}

// Sets a.b.c of a tree; null removes it.
function put(tree, name, value) {
  const keys = name.split(".");
  if (keys.some((key) => Object.hasOwn(Object.prototype, key))) return;
  const last = keys.pop();
  for (const key of keys) {
    if (tree[key] === null || typeof tree[key] !== "object") tree[key] = {};
    tree = tree[key];
  }
  if (value === null) delete tree[last];
  else tree[last] = value;
}
