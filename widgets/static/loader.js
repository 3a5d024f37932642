// All that anywidget imports for each widget: a browser keeps what it has imported for as long as the page is open. The
// script of a widget is a trait, and is imported once for the page, whoever shows it.
export default () => {
  let widget;
  return {
    async render(context) {
      const scripts = (globalThis.__workbenchScripts ??= new Map());
      const script = context.model.get("_script");
      if (!scripts.has(script)) scripts.set(script, imported(script));
      const made = (await scripts.get(script)).default;
      widget ??= typeof made === "function" ? made() : made;
      return await widget.render(context);
    },
  };
};
