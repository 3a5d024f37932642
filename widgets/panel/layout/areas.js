// The areas of a panel, which have a line above them where it is wide and are tabs where it is narrow, and their button.

const AREAS = [["graph", "Graph"], ["iterations", "Iterations"], ["value", "Value"], ["ending", "Will it end?"], ["nodes", "Nodes"]];

// The button that gives an area the whole panel.
function makeMaximise(key, what, parent, act) {
  const button = makeButton("", `Maximise ${what} (Esc restores)`, parent, act);
  button.classList.add("workbench-maximise");
  button.dataset.maximise = key;
  button.appendChild(icon("M1 1h5v2H3v3H1zM13 13H8v-2h3V8h2z"));
  make("span", "", button, "Maximise");
  return button;
}
