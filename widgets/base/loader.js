// All that anywidget imports for each widget. A browser keeps a module for as long as the page is open, so there is next to
// nothing in each: what the first of them makes serves all (`KEY` is that of this text, see esm.py). The script of a widget is
// a trait, and is imported once for the page, whoever shows it.
function loader() {
IMPORTED
  const scripts = (globalThis.__workbenchScripts ??= new Map());
  const script = (model) => {
    const text = model.get("_script");
    if (!scripts.has(text)) scripts.set(text, imported(text));
    return scripts.get(text);
  };
  return () => {
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
}
export default globalThis[KEY] ??= loader();
