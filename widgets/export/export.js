// Two files: a page that works offline, and a finding that can be opened again. The kernel writes them; a link brings
// them to this side.

const TEXTS = {
  page: ["Write a page", "One HTML file with all views and the time slider; it works offline"],
  finding: ["Save this panel", "The recorded run with its position, breakpoints, selection and note; wb.open_finding opens it again"],
};

export default {
  render({ model, el }) {
    const box = make("div", "workbench-flow", el);
    const note = make("textarea", "", box);
    note.placeholder = "A note for readers: what was found, and where to look";
    note.setAttribute("aria-label", "Note");
    note.rows = 3;
    note.style.cssText = "width: 100%; box-sizing: border-box; resize: vertical; font: inherit; padding: 4px 6px;";
    ownKeys(box);
    note.addEventListener("change", () => tell(model, { kind: "note", text: note.value }));
    const rows = {};
    for (const what of Object.keys(TEXTS)) {
      const row = make("div", "workbench-flow-bar", box);
      const name = make("input", "", row);
      name.type = "text";
      name.size = 24;
      name.setAttribute("aria-label", `File name of the ${what === "page" ? what : "saved panel"}`);
      const suffix = make("span", "", row);
      const button = makeButton(TEXTS[what][0], TEXTS[what][1], row, () => {
        tell(model, { kind: "note", text: note.value });
        tell(model, { kind: "write", what, name: name.value });
      });
      button.dataset.write = what;
      make("span", "workbench-flow-dim", row, TEXTS[what][1]);
      const done = aria(make("div", "", box), "status");
      rows[what] = { name, suffix, button, done };
    }
    const error = aria(make("div", "workbench-flow-error", box), "alert");

    const save = (message, buffers) => {
      if (message.kind !== "file") return;
      const link = make("a", "", box);
      const address = URL.createObjectURL(new Blob([buffers[0]]));
      link.href = address;
      link.download = message.name;
      link.click();
      link.remove();
      setTimeout(() => URL.revokeObjectURL(address), 10000);
    };
    const show = (status) => {
      if (focusAround(note) !== note) note.value = status.note ?? "";
      for (const [what, row] of Object.entries(rows)) {
        if (!row.name.value) row.name.value = status.name;
        row.suffix.textContent = status.suffix[what];
        row.button.disabled = Boolean(status.busy);
        row.button.textContent = status.busy === what ? "Writing \u2026" : TEXTS[what][0];
        const file = status.done[what];
        row.done.replaceChildren();
        if (!file) continue;
        make("span", "", row.done, `\u2714 ${file.path} (${(file.bytes / 2 ** 20).toFixed(1)} MiB) `).dataset.file = file.path;
        makeButton("Download", `Download ${file.path}`, row.done, () => tell(model, { kind: "download", what }));
      }
      complain(error, status.error);
    };
    return follow(model, el, show, listen(model, "msg:custom", save));
  },
};
