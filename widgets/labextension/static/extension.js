// The plugin: commands, their entries in the palette, and what the panel's own script may call.

import { panelsInUse } from "./panels.js";
import { panelTabs } from "./tabs.js";

const CATEGORY = "Workbench";
const OPEN = "workbench:open-panel-in-tab";
// buttons of the panel's toolbar: their data-command, and the entry in the palette
const BUTTONS = {
  step: "Step",
  step_back: "Step back",
  run: "Run",
  pause: "Pause",
  next_iteration: "Next iteration",
  previous_iteration: "Previous iteration",
  restart: "Restart",
};
const NO_PANEL = "No panel of workbench is open. Run a cell that shows one, for example wb.debug(graph, inputs).";
const NOT_FOUND =
  "The panel cannot be opened in a tab, because it is not an output of a notebook that is open here. Run its cell again, " +
  "then open the new panel.";
const NOTICE_MS = 8000;

export const plugins = ({ application, apputils, notebook, lumino }) => [
  {
    id: "workbench:panel",
    description: "Opens the debugger panel of workbench in a tab, and adds its commands to the palette.",
    autoStart: true,
    requires: [notebook.INotebookTracker],
    // Notebook 7 shows one document: there is nowhere to put a tab.
    optional: [apputils.ICommandPalette, application.ILabShell, application.ILayoutRestorer],
    activate(app, notebooks, palette, labShell, restorer) {
      const tracker = new apputils.WidgetTracker({ namespace: "workbench-panels" });
      const keep = (main, moved) => {
        tracker.add(main);
        const save = () => tracker.save(main);
        moved.connect(save);
        main.disposed.connect(() => moved.disconnect(save));
      };
      const tabs = panelTabs({ lumino, apputils }, labShell, notebooks, keep);
      const panels = panelsInUse(app.shell, tabs.holds);
      const say = (message) => {
        apputils.Notification.warning(message, { autoClose: NOTICE_MS });
      };
      const register = (command, label, act) => {
        const execute = (args) => {
          if (args.path) return tabs.restore(args);
          const panel = panels.current();
          return panel ? act(panel) : say(NO_PANEL);
        };
        app.commands.addCommand(command, { label, execute });
        palette?.addItem({ command, category: CATEGORY });
      };
      const press = (name, label) => (panel) => {
        const button = panel.querySelector(`button[data-command=${name}]`);
        if (!button) say(`This panel has no button "${label}": it shows a recorded run, or a session without this command.`);
        else if (button.disabled) say(`"${label}" is not possible now; the panel's line of state says where its run stands.`);
        else button.click();
      };

      if (labShell) {
        register(OPEN, "Open panel in a tab", (panel) => {
          if (!tabs.open(panel)) say(NOT_FOUND);
        });
        restorer?.restore(tracker, {
          command: OPEN,
          args: tabs.where,
          name: (main) => Object.values(tabs.where(main)).join(":"),
          when: notebooks.restored,
        });
        globalThis.__workbenchLab = { openInTab: tabs.open };
      }
      for (const [name, label] of Object.entries(BUTTONS)) {
        register(`workbench:${name.replaceAll("_", "-")}`, label, press(name, label));
      }
    },
  },
];
