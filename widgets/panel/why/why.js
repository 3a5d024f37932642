// The pane behind a card: it slides over the right-hand side of the panel when the card is pressed, and what it says stays up
// to date while it is there. The verdict's part stands below this one, and is drawn by its own script.

const WHY = { state: "Why it failed", health: "Where it comes from", verdict: "Why, and what to do" };

export default {
  render({ model, el }) {
    const box = aria(make("div", "workbench-flow workbench-why-part", el), "region", "Why");
    const head = make("div", "workbench-why-head", box);
    const title = aria(make("b", "", head), "heading");
    title.setAttribute("aria-level", "3");
    const close = makeButton("\u00d7", "Close (Esc)", head, () => show(""));
    const content = make("div", "", box);
    const root = () => el.closest(".workbench-debugger");
    let card = "";
    let opened = model.get("status").opened;

    function show(name) {
      const at = root();
      if (!at) return;
      const before = card;
      card = name;
      at.dataset.why = card;
      title.textContent = WHY[card] ?? "";
      for (const button of at.querySelectorAll(".workbench-why-open")) {
        button.setAttribute("aria-expanded", String(button.dataset.card === card));
      }
      draw(model.get("status"));
      if (card) close.focus({ preventScroll: true });
      else at.querySelector(`.workbench-why-open[data-card="${before}"]`)?.focus({ preventScroll: true });
    }

    const go = (row) => tell(model, { kind: "go", row });
    function tool(key) {
      root()?.querySelector(`[data-pane=${key}]`)?.click();
      show("");
    }
    function acts() {
      const bar = make("div", "workbench-flow-bar", content);
      makeButton("Stop at the first NaN", "Add a breakpoint that stops the run at the first value that is NaN or infinite", bar, () => {
        tell(model, { kind: "stop" });
        const pane = root()?.querySelector("[data-pane=breakpoints]");
        if (pane?.ariaSelected !== "true") pane?.click();
        show("");
      });
      return bar;
    }
    function healthy({ health, trouble }) {
      if (!health.title) {
        make("p", "workbench-flow-line", content, trouble);
        make("p", "", content, "It was computed ahead: the run has not reached it yet. Stop there to list here the values that it comes from.");
        return acts();
      }
      make("p", "workbench-flow-line workbench-bad", content, health.title);
      const list = make("ol", "workbench-why-chain", content);
      (health.chain ?? []).forEach((row, k) => {
        const item = make("li", "", list);
        const line = make("div", "workbench-why-link", item);
        makeButton(row.formula, `Look at ${row.formula}${row.where ? ` in ${row.where}` : ""}`, line, () => go(k));
        make("b", "workbench-bad", line, row.gives);
        if (row.why) make("div", "", item, row.why);
        make("div", "workbench-why-place", item, [row.where, row.line].filter(Boolean).join(", "));
      });
      if (health.note) make("p", "", content, health.note);
      const bar = acts();
      makeButton("All values that it comes from", "Open the chain of values in Explain", bar, () => {
        go((health.chain ?? []).length - 1);
        tool("explain");
      });
    }
    function failed({ failure }) {
      // the rest of the error is in the report, line by line
      make("p", "workbench-flow-line workbench-bad", content, failure.report ? failure.error.split(/\. (?=Operands: |Node: )/)[0] : failure.error);
      if (failure.report) make("pre", "workbench-why-report", content, failure.report);
    }

    let drawn = "";
    function draw(status) {
      const says = { health: status.health.title || status.trouble, state: status.failure.error, verdict: true }[card];
      if (card && !says) return show(""); // the run has gone on, and the card says something else
      const text = JSON.stringify([card, status.health, status.trouble, status.failure]);
      if (text === drawn) return;
      drawn = text;
      content.replaceChildren();
      if (card === "health") healthy(status);
      if (card === "state") failed(status);
    }

    let home = null;
    const pressed = (event) => show(event.detail === card ? "" : event.detail);
    const escape = (event) => {
      if (event.key !== "Escape" || !card || !el.parentElement.contains(event.target)) return;
      taken(event);
      show("");
    };
    const waiting = setTimeout(() => {
      home = root();
      home?.addEventListener("workbench-why", pressed);
      home?.addEventListener("keydown", escape, true);
      if (model.get("status").card) show(model.get("status").card);
    }, 0);
    const update = (status) => {
      if (status.opened !== opened) {
        opened = status.opened;
        show(status.card);
      } else draw(status);
    };
    return follow(model, el, update, () => {
      clearTimeout(waiting);
      home?.removeEventListener("workbench-why", pressed);
      home?.removeEventListener("keydown", escape, true);
    });
  },
};
