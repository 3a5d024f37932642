// Images of arrays. The kernel sends one byte for each pixel, the number of its colour; they are drawn on canvases whose
// pixels are squares, as large as the place allows. An image is drawn as soon as it comes, and then answered for.

const BAR = 78; // pixels for the colour bar and its numbers
const LEAST = 96; // pixels of the longer side of an image, however small the place
const BESIDE = 116; // pixels of the longer side of the images beside a difference
const FILM = 56;
const SOON_MS = 110; // between two answers; up to four images may be on their way
const HEIGHT = "--workbench-image-height";
const MARGIN = 12; // pixels below what is drawn

// Colours as the memory of a canvas has them: red, green, blue, opaque.
function colours(bytes) {
  const table = new Uint32Array(256);
  const part = new Uint8Array(table.buffer);
  for (let k = 0; k < 256; k++) part.set([bytes[3 * k], bytes[3 * k + 1], bytes[3 * k + 2], 255], 4 * k);
  return table;
}

const bytesOf = (view) => new Uint8Array(view.buffer ?? view, view.byteOffset ?? 0, view.byteLength);

function paint(canvas, [rows, columns], bytes, table) {
  if (canvas.width !== columns) canvas.width = columns;
  if (canvas.height !== rows) canvas.height = rows;
  const context = canvas.getContext("2d", { alpha: false });
  const image = context.createImageData(columns, rows);
  const to = new Uint32Array(image.data.buffer);
  for (let k = 0; k < to.length; k++) to[k] = table[bytes[k]];
  context.putImageData(image, 0, 0);
}

// The elements around that do not let out what is too high for them, innermost first.
function boxesAround(element) {
  const found = [];
  for (let box = element.parentElement; box && !box.matches(".jp-OutputArea, .jp-Notebook, body"); box = box.parentElement) {
    if (/auto|scroll|hidden|clip/.test(getComputedStyle(box).overflowY)) found.push(box);
  }
  return found;
}

// The nearest of these whose height does not come from what is in it leaves the image its room; a part of the window where
// there is none. An area of a panel has its height from the layout; of others it is found by trial, as it may be set in many ways.
function roomFor(main, boxes) {
  const box = boxes.find((one) => one.matches(".workbench-area") || isFixed(one, main));
  return box ? roomIn(box, main) - MARGIN : window.innerHeight * 0.6;
}
function isFixed(box, main) {
  const own = main.style.getPropertyValue(HEIGHT);
  const [least, most] = ["0px", "4000px"].map((height) => {
    main.style.setProperty(HEIGHT, height);
    return box.clientHeight;
  });
  main.style.setProperty(HEIGHT, own);
  return least === most;
}

export default {
  render({ model, el }) {
    const root = make("div", "workbench-image", el);
    ownKeys(root);
    const send = (kind, more) => tell(model, { kind, ...more });
    const slices = make("div", "workbench-image-slices", root);
    const pair = make("div", "workbench-image-pair", root);
    const main = make("div", "workbench-image-main", root);
    const figure = make("figure", "", main);
    const large = make("canvas", "", figure);
    const bar = make("div", "workbench-image-bar", main);
    const ramp = make("canvas", "", bar);
    const ticks = make("div", "workbench-image-ticks", bar);
    const words = make("div", "workbench-image-words", root);
    const strip = aria(make("div", "workbench-image-film", root), "group", "Iterations");
    const tables = (() => {
      const bytes = bytesOf(model.get("palettes"));
      return [colours(bytes), colours(bytes.subarray(768))];
    })();
    root.dataset.drawn = 0;
    aria(large, "img");

    // -- sizes ------------------------------------------------------------------------------------------------------
    let size = [1, 1];
    let fitted = "";
    let boxes = [];
    const fit = () => {
      if (!root.clientWidth || !root.offsetParent) return;
      const now = boxesAround(main);
      for (const box of now) if (!boxes.includes(box)) resize.observe(box);
      boxes = now;
      const heights = () => boxes.map((box) => box.clientHeight);
      const state = () => JSON.stringify([size, root.clientWidth, heights(), window.innerHeight]);
      if (state() === fitted) return;
      const high = roomFor(main, boxes);
      const [rows, columns] = size;
      const wide = root.clientWidth - BAR;
      const side = Math.max(LEAST / Math.max(rows, columns), Math.min(wide / columns, high / rows));
      const [width, height] = [Math.round(side * columns), Math.round(side * rows)];
      large.style.width = `${width}px`;
      main.style.setProperty(HEIGHT, `${height}px`);
      fitted = state();
    };
    const resize = new ResizeObserver(fit);
    resize.observe(root);
    const sight = new IntersectionObserver((entries) => {
      send("sight", { seen: entries.some((entry) => entry.isIntersecting) });
    });
    sight.observe(root);

    // -- the number below the pointer -------------------------------------------------------------------------------
    let at = "";
    const point = (image, canvas, event) => {
      const box = canvas.getBoundingClientRect();
      const column = Math.floor(((event.clientX - box.x) / box.width) * canvas.width);
      const row = Math.floor(((event.clientY - box.y) / box.height) * canvas.height);
      const now = `${image} ${row} ${column}`;
      if (now === at || row < 0 || column < 0) return;
      at = now;
      send("probe", { image, row, column });
    };
    const leave = () => {
      at = "";
      send("probe", {});
    };
    large.addEventListener("pointermove", (event) => point(0, large, event));
    large.addEventListener("pointerleave", leave);

    // -- what is around the image -----------------------------------------------------------------------------------
    let barred = "";
    const showBar = ({ signed, ticks: numbers }) => {
      const key = JSON.stringify([signed, numbers]);
      if (key === barred) return;
      barred = key;
      paint(ramp, [255, 1], Uint8Array.from({ length: 255 }, (_, k) => 254 - k), tables[Number(signed)]);
      ticks.replaceChildren();
      for (const number of [...numbers].reverse()) make("span", "", ticks, number);
    };
    let small = [];
    const showPair = (images, parts) => {
      if (small.length !== images.length) {
        pair.replaceChildren();
        small = images.map((_, k) => {
          const holder = make("figure", "", pair);
          const canvas = aria(make("canvas", "", holder), "img");
          canvas.addEventListener("pointermove", (event) => point(k + 1, canvas, event));
          canvas.addEventListener("pointerleave", leave);
          return { canvas, caption: make("figcaption", "", holder) };
        });
      }
      images.forEach((image, k) => {
        const { canvas, caption } = small[k];
        paint(canvas, image.size, parts[k], tables[Number(image.signed)]);
        const side = BESIDE / Math.max(...image.size);
        canvas.style.width = `${Math.round(side * image.size[1])}px`;
        canvas.style.height = `${Math.round(side * image.size[0])}px`;
        caption.textContent = `${["before", "now"][k]}: ${image.where}`;
        canvas.setAttribute("aria-label", caption.textContent);
      });
    };
    let filmed = [];
    let shownFilm = "";
    const showFilm = (film, signed) => {
      const key = JSON.stringify(film.map((one) => [one.iteration, one.size]));
      if (key !== shownFilm) {
        shownFilm = key;
        strip.replaceChildren();
        filmed = film.map((one) => {
          const button = makeButton("", "", strip, () => send("film", { iteration: one.iteration, newest: one.newest }));
          const canvas = make("canvas", "", button);
          const side = FILM / Math.max(...one.size);
          canvas.style.width = `${Math.max(4, Math.round(side * one.size[1]))}px`;
          canvas.style.height = `${Math.max(4, Math.round(side * one.size[0]))}px`;
          make("span", "", button, one.label);
          button.dataset.iteration = one.iteration;
          return { button, canvas };
        });
      }
      strip.style.display = film.length > 1 ? "" : "none";
      const bytes = bytesOf(model.get("film"));
      let from = 0;
      film.forEach((one, k) => {
        const length = one.size[0] * one.size[1];
        paint(filmed[k].canvas, one.size, bytes.subarray(from, from + length), tables[Number(signed)]);
        from += length;
        const told = one.newest ? `Newest: iteration ${one.label}` : `Look at iteration ${one.label}`;
        filmed[k].button.title = told;
        filmed[k].button.setAttribute("aria-label", told);
        filmed[k].button.setAttribute("aria-current", String(Boolean(one.here)));
      });
    };
    let sliced = "";
    const showSlices = (axes) => {
      const key = JSON.stringify(axes.map((axis) => axis.size));
      if (key !== sliced) {
        sliced = key;
        slices.replaceChildren();
        axes.forEach((axis, k) => {
          const row = make("label", "", slices, `axis ${k} `);
          const range = make("input", "", row);
          range.type = "range";
          range.min = 0;
          range.max = axis.size - 1;
          range.dataset.axis = k;
          range.setAttribute("aria-label", `Index on axis ${k}`);
          make("output", "", row);
          range.addEventListener("input", () => {
            range.nextSibling.textContent = `${range.value} of ${axis.size - 1}`;
            const places = [...slices.querySelectorAll("input")].map((input) => Number(input.value));
            send("set", { field: "index", value: `[${places.join(", ")}]` });
          });
        });
        slices.style.display = axes.some((axis) => axis.size > 1) ? "" : "none";
      }
      axes.forEach((axis, k) => {
        const range = slices.querySelector(`[data-axis="${k}"]`);
        range.parentElement.style.display = axis.size > 1 ? "" : "none";
        if (focusAround(range) !== range) range.value = axis.at;
        range.nextSibling.textContent = `${range.value} of ${axis.size - 1}`;
      });
    };
    const told = make("span", "", words);
    const scale = makeButton("", "", words, () => send("set", { field: "scale", value: scale.dataset.to }));
    const again = makeButton("Fit to the run", "Compute the limits of the colours again from the run so far", words, () =>
      send("rescale"),
    );
    const probed = make("span", "workbench-image-probe", words);

    // Answers for an image that nobody sees too: it is small, and the next one is then the newest.
    const show = (status) => {
      showSlices(status.axes ?? []);
      for (const part of [pair, main, words, strip]) part.style.display = status.shown ? "" : "none";
      if (!status.shown) return;
      const bytes = bytesOf(model.get("pixels"));
      let from = 0;
      const parts = status.images.map(({ size: [rows, columns] }) => bytes.subarray(from, (from += rows * columns)));
      const [image, ...others] = status.images;
      paint(large, image.size, parts[0], tables[Number(image.signed)]);
      root.dataset.drawn = Number(root.dataset.drawn) + 1;
      root.dataset.where = image.where;
      large.setAttribute("aria-label", `${status.name} ${image.where}: ${status.words}`);
      showBar(image);
      showPair(others, parts.slice(1));
      pair.style.display = others.length ? "" : "none";
      showFilm(status.film, image.signed);
      told.textContent = [image.where, status.words, image.pixel].filter(Boolean).join(" \u00B7 ");
      scale.textContent = status.colours.text;
      scale.dataset.to = status.colours.to ?? "";
      scale.disabled = !status.colours.to;
      scale.title = status.colours.tip;
      scale.setAttribute("aria-label", `${status.colours.text}. ${status.colours.tip}`);
      again.style.display = status.scale === "run" ? "" : "none";
      probed.textContent = status.probe ?? "";
      if (String(size) !== String(image.size)) {
        size = image.size;
        fit();
      }
    };
    // Answers for images that come one soon after the other are gathered: the page has work with each message.
    let answered = 0;
    let answer = null;
    const say = () => {
      answer = null;
      answered = performance.now();
      tell(model, { kind: "ack", push: model.get("push") });
    };
    const gathered = (status) => {
      show(status);
      if (performance.now() - answered > SOON_MS) say();
      else answer ??= setTimeout(say, SOON_MS);
      return false;
    };
    const end = follow(model, el, gathered, () => clearTimeout(answer));
    return () => {
      resize.disconnect();
      sight.disconnect();
      end();
    };
  },
};
