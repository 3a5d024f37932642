// A container of module federation, which JupyterLab asks for the extension. Written by hand: nothing is compiled, and this
// folder is served as it is. JupyterLab first hands over the modules that it shares, by name and version, and then asks.
{
  const WANTED = {
    application: "@jupyterlab/application",
    apputils: "@jupyterlab/apputils",
    notebook: "@jupyterlab/notebook",
    lumino: "@lumino/widgets",
  };
  let shared = {};

  const newer = (one, other) => one.localeCompare(other, "en", { numeric: true }) > 0;

  // The version that is in use already, or else the newest, which is also what JupyterLab itself uses: another copy of a
  // module would hold tokens of its own, which nobody provides.
  const load = async (name) => {
    const offered = Object.entries(shared[name] ?? {});
    if (!offered.length) throw new Error(`workbench: this JupyterLab does not share ${name}; version 4.4 or later is expected`);
    const [, chosen] = offered.reduce((best, next) => {
      if (Boolean(best[1].loaded) !== Boolean(next[1].loaded)) return best[1].loaded ? best : next;
      return newer(next[0], best[0]) ? next : best;
    });
    return (await chosen.get())();
  };

  window._JUPYTERLAB ??= {};
  window._JUPYTERLAB.workbench = {
    init(scope) {
      shared = scope;
    },
    async get(module) {
      if (module !== "./extension") throw new Error(`workbench: there is only ./extension here, not ${module}`);
      const [extension, ...loaded] = await Promise.all([import("./extension.js"), ...Object.values(WANTED).map(load)]);
      const modules = Object.fromEntries(Object.keys(WANTED).map((key, k) => [key, loaded[k]]));
      return () => ({ __esModule: true, default: extension.plugins(modules) });
    },
  };
}
