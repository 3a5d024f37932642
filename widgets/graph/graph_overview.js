// The overview of a large graph: one cell for many nodes, with what is in sight, found, selected and next.

const LEVELS = 6;

// Gives the function that paints it anew.
function overview(model, parent, send) {
  const words = "Overview of the whole graph from inputs to outputs; click to move there";
  const canvas = aria(make("canvas", "workbench-overview", parent), "img", words);
  canvas.addEventListener("click", (event) => {
    const box = canvas.getBoundingClientRect();
    send("overview", { x: (event.clientX - box.x) / box.width, y: (event.clientY - box.y) / box.height });
  });
  return () => {
    const columns = model.get("columns");
    canvas.style.display = columns ? "" : "none";
    if (!columns) return;
    const view = model.get("cells");
    const cells = new Uint8Array(view.buffer ?? view, view.byteOffset ?? 0, view.byteLength);
    const rows = cells.length / columns;
    canvas.width = columns;
    canvas.height = rows;
    const context = canvas.getContext("2d");
    const night = isDark();
    for (let k = 0; k < cells.length; k++) {
      if (!cells[k]) continue;
      const shade = Math.min(cells[k], LEVELS) / LEVELS;
      context.fillStyle = night ? `rgba(120,190,240,${0.35 + 0.65 * shade})` : `rgba(0,80,140,${0.25 + 0.75 * shade})`;
      context.fillRect(k % columns, Math.floor(k / columns), 1, 1);
    }
    const marks = model.get("status").overview ?? {};
    if (marks.span) {
      context.strokeStyle = "#E69F00";
      context.strokeRect(marks.span[0] + 0.5, 0.5, Math.max(2, marks.span[1] - marks.span[0]), rows - 1);
    }
    const bar = (place, colour, width) => {
      context.fillStyle = colour;
      context.fillRect(place[0] - (width - 1) / 2, 0, width, rows);
    };
    for (const place of marks.matches ?? []) bar(place, "rgba(0,158,115,0.7)", 1);
    if (marks.selected) bar(marks.selected, "#CC79A7", 2);
    if (marks.current) bar(marks.current, "#D55E00", 2);
  };
}
