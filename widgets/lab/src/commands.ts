// Commands on panels: their entries in the palette and in the menu, and what the panel's own script may call.

import { ILabShell, ILayoutRestorer, JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ICommandPalette, MainAreaWidget, Notification, WidgetTracker } from '@jupyterlab/apputils';
import { INotebookTracker } from '@jupyterlab/notebook';
import { ReadonlyPartialJSONObject } from '@lumino/coreutils';
import { Panel } from '@lumino/widgets';

import { CATEGORY, Commands, NOTICE_MS } from './names';
import { panelsInUse } from './panels';
import { panelTabs, Where } from './tabs';

// buttons of the panel's toolbar: their data-command, and the entry in the palette
const BUTTONS = {
  step: 'Step',
  step_back: 'Step back',
  run: 'Run',
  pause: 'Pause',
  next_iteration: 'Next iteration',
  previous_iteration: 'Previous iteration',
  restart: 'Restart'
};
const NO_PANEL =
  'No workbench panel is in view. Bring one to the front, or run a cell that shows one, for example wb.debug(graph, inputs).';
const NOT_FOUND =
  'The panel cannot be opened in a tab, because it is not an output of an open notebook. Run the cell that shows it in a ' +
  'notebook, then open the new panel.';
const IN_TAB = 'This panel already has a tab: that of its file.';

export const panelCommands: JupyterFrontEndPlugin<void> = {
  id: 'workbench:panel',
  description: 'Opens the panel of workbench in a tab, and adds its commands to the palette.',
  autoStart: true,
  requires: [INotebookTracker],
  // Notebook 7 shows one document: there is nowhere to put a tab.
  optional: [ICommandPalette, ILabShell, ILayoutRestorer],
  activate(
    app: JupyterFrontEnd,
    notebooks: INotebookTracker,
    palette: ICommandPalette | null,
    labShell: ILabShell | null,
    restorer: ILayoutRestorer | null
  ) {
    const tracker = new WidgetTracker<MainAreaWidget<Panel>>({ namespace: 'workbench-panels' });
    const tabs =
      labShell &&
      panelTabs(labShell, notebooks, (main, moved) => {
        void tracker.add(main);
        const save = () => void tracker.save(main);
        moved.connect(save);
        main.disposed.connect(() => moved.disconnect(save));
      });
    const panels = panelsInUse(app.shell, element => tabs?.holds(element) ?? false);
    const say = (message: string) => void Notification.warning(message, { autoClose: NOTICE_MS });

    function register(command: string, label: string, act: (panel: Element) => void): void {
      const execute = (args: ReadonlyPartialJSONObject) => {
        if (tabs && typeof args.path === 'string') return tabs.restore(args as Where);
        const panel = panels.current();
        return panel ? act(panel) : say(NO_PANEL);
      };
      app.commands.addCommand(command, { label, execute });
      palette?.addItem({ command, category: CATEGORY });
    }
    function press(name: string, label: string, panel: Element): void {
      const button = panel.querySelector<HTMLButtonElement>(`button[data-command=${name}]`);
      if (!button) say(`This panel has no button "${label}": it shows a recorded run, or a session without this command.`);
      else if (button.disabled) say(`"${label}" is not possible now; the panel shows the state of its run.`);
      else button.click();
    }

    if (tabs) {
      register(Commands.openInTab, 'Open panel in a tab', panel => {
        if (!tabs.open(panel)) say(panel.closest('.workbench-document') ? IN_TAB : NOT_FOUND);
      });
      void restorer?.restore(tracker, {
        command: Commands.openInTab,
        args: tabs.where,
        name: main => Object.values(tabs.where(main)).join(':'),
        when: notebooks.restored
      });
      Object.assign(globalThis, { __workbenchLab: { openInTab: tabs.open } });
    }
    for (const [name, label] of Object.entries(BUTTONS)) {
      register(`workbench:${name.replaceAll('_', '-')}`, label, panel => press(name, label, panel));
    }
  }
};
