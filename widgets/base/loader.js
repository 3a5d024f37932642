// All that anywidget imports for each widget: a browser keeps what it has imported for as long as the page is open. The
// script of a widget is a trait, and is imported once for the page, whoever shows it.
const script = (model) => {
  const scripts = (globalThis.__workbenchScripts ??= new Map());
  const text = model.get("_script");
  if (!scripts.has(text)) scripts.set(text, imported(text));
  return scripts.get(text);
};

export default () => {
  let widget;
  return {
    initialize({ model }) {
      script(model).then(({ hearLate, default: made }) => {
        hearLate(model);
        made.hear?.(model); // also while no view shows it
      }); // not awaited: the model is ready after this function
    },
    async render(context) {
      const made = (await script(context.model)).default;
      widget ??= typeof made === "function" ? made() : made;
      return await widget.render(context);
    },
  };
};
