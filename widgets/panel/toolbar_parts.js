// What the toolbar is made of: drawings on a grid of 14 x 14, the buttons at its right, its cards, and durations in words.

const ICONS = {
  restart: "M7 2V0L2 3.5 7 7V4.5A3.8 3.8 0 1 1 3.2 8.3H1A6 6 0 1 0 7 2z",
  reverse_continue: "M7 1 0 7l7 6zM14 1 7 7l7 6z",
  previous_iteration: "M7 1a6 6 0 1 1-6 6h2a4 4 0 1 0 4-4v2L3 2l4-3z",
  step_back_over: "M13 11V7a5 5 0 0 0-9-3L2 2v6h6L5.5 5.5A3 3 0 0 1 11 7v4zM5 10h3v3H5z",
  step_back: "M9 2 3 7l6 5zM1 2h2v10H1z",
  step: "M5 2l6 5-6 5zM11 2h2v10h-2z",
  step_over: "M1 11V7a5 5 0 0 1 9-3l2-2v6H6l2.5-2.5A3 3 0 0 0 3 7v4zM6 10h3v3H6z",
  next_iteration: "M7 1a6 6 0 1 0 6 6h-2a4 4 0 1 1-4-4v2l4-3-4-3z",
  step_into: "M6 0h2v6h3L7 10 3 6h3zM1 9h2v3h8V9h2v5H1z",
  step_out: "M6 10h2V4h3L7 0 3 4h3zM1 9h2v3h8V9h2v5H1z",
  step_back_out: "M8 10V6h4V4H8V1L3 5l5 4zM1 1h1v12h11v-2H1z",
  previous_branch: "M14 6H9L5 2H3V0L0 3l3 3V4h1l3 3-3 3H3V8l-3 3 3 3v-2h2l4-4h5z",
  next_branch: "M0 6h5l4-4h2V0l3 3-3 3V4h-1L7 7l3 3h1V8l3 3-3 3v-2H9L5 8H0z",
  run_to: "M1 2l6 5-6 5zM9 0h2v14H9zM11 1h3v4h-3z",
  run: "M3 1l9 6-9 6z",
  pause: "M3 1h3v12H3zM8 1h3v12H8z",
  undo_edit: "M5 1 1 5l4 4V6.5h3a2.5 2.5 0 0 1 0 5H4V13h4a4.2 4.2 0 0 0 0-8.500H5z",
};
const RIGHT = [
  ["share", "Share", "Write a page to share, or save this panel", "M7 0l4 4H8v5H6V4H3zM1 7h2v5h8V7h2v7H1z"],
  ["larger", "Text size", "The next of four text sizes; it is kept in the browser", "M0 12 4 2h2l4 10H8L7.2 10H2.8L2 12zM3.5 8h3L5 4.3zM11 6h1v2h2v1h-2v2h-1V9H9V8h2z"],
  ["present", "Present", "Fill the screen with large text for an audience (Esc ends)", "M0 1h14v9H8v2h2v1H4v-1h2v-2H0zM1 2v7h12V2z"],
  ["mark", "Bookmark", "Mark this moment: while presenting, Page Down goes to the next bookmark", "M3 0h8v14l-4-3-4 3z"],
  ["tab", "Open in tab", "Also show this panel in a tab", "M1 2h6v2H3v7h7V8h2v5H1zM8 1h5v5l-2-2-4 4-1-1 4-4z"],
];

// A duration as people say it: whole seconds below 100, then minutes.
const lasting = (s) => (s < 100 ? `${Math.ceil(s)} s` : s < 6000 ? `${Math.round(s / 60)} min` : `${Math.round(s / 3600)} h`);

// A card of the line below the buttons: a title, and one line below it.
function card(parent, name) {
  const box = make("div", `workbench-card workbench-card-${name}`, parent);
  return { box, title: make("div", "workbench-card-title", box), detail: make("div", "workbench-card-detail", box) };
}
const set = (element, text) => element.textContent === text || (element.textContent = text);

// The button at the right of a card that opens what is behind it; a press on the card beside its other buttons does so too.
function whyButton(name, box, open) {
  const button = makeButton("Why", "Show the reasons", box, open);
  button.className = "workbench-why-open";
  button.dataset.card = name;
  button.setAttribute("aria-expanded", "false");
  box.addEventListener("click", (event) => !button.hidden && !event.target.closest("button") && !getSelection().toString() && open());
  return button;
}
