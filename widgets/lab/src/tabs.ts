// Tabs that hold a panel: a further live view of the one output of a notebook's cell that shows it, as JupyterLab's "Create New
// View for Cell Output" makes one of a whole cell. It does not depend on the cell's place on the page: the cell may be
// scrolled away, moved, or run again.

import { ILabShell } from '@jupyterlab/application';
import { MainAreaWidget } from '@jupyterlab/apputils';
import { CodeCell } from '@jupyterlab/cells';
import { IOutputModel } from '@jupyterlab/rendermime';
import { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import { ISignal } from '@lumino/signaling';
import { Panel } from '@lumino/widgets';

const NAMED = /^<Debugger of '(.*)':/;

type Tab = MainAreaWidget<Panel>;
// the id of the cell, and the index among its outputs
type Place = { notebook: NotebookPanel; id: string; output: number };
export type Where = { path: string; id: string; output: number };

// `keep` is told of each tab, with a signal at which `restore` would need other arguments to open it on a page loaded again.
export function panelTabs(
  labShell: ILabShell,
  notebooks: INotebookTracker,
  keep: (main: Tab, moved: ISignal<unknown, unknown>) => void
) {
  const tabs = new Map<Tab, Place>();

  // undefined for an element of no notebook
  function place(element: Node): Place | undefined {
    let found: Place | undefined;
    notebooks.forEach(notebook => {
      for (const cell of notebook.content.widgets) {
        if (found || !(cell instanceof CodeCell) || !cell.outputArea?.node.contains(element)) continue;
        const output = cell.outputArea.widgets.findIndex(one => one.node.contains(element));
        if (output >= 0) found = { notebook, id: cell.model.id, output };
      }
    });
    return found;
  }

  function name(notebook: NotebookPanel, output?: IOutputModel): string {
    const text = [output?.data['text/plain'] ?? ''].flat().join('');
    return `Panel: ${NAMED.exec(text)?.[1] ?? notebook.title.label}`;
  }

  // Keeps a tab filled with an output of a cell for as long as the cell is there; gives the function that ends this.
  function follow(main: Tab, { notebook, id, output }: Place): () => void {
    const { content } = main;
    let leave = () => {};
    let ended = false;
    function fill(): void {
      leave();
      if (ended) return;
      for (const old of [...content.widgets]) old.dispose();
      // looked up each time, because a cell that is moved is made anew
      const cell = notebook.isDisposed ? undefined : notebook.content.widgets.find(one => one.model.id === id);
      if (!(cell instanceof CodeCell)) return main.dispose();
      const area = cell.cloneOutputArea();
      const outputs = area.model;
      const again = () => void requestAnimationFrame(fill);
      // A run that ends early, with an error, has fewer outputs: then all are shown.
      const showOne = () => {
        area.widgets.forEach((one, k) => one.setHidden(k !== output && area.widgets.length > output));
        if (outputs.length > output) main.title.label = name(notebook, outputs.get(output));
      };
      outputs.changed.connect(showOne);
      cell.disposed.connect(again);
      leave = () => {
        outputs.changed.disconnect(showOne);
        cell.disposed.disconnect(again);
      };
      content.addWidget(area);
      showOne();
    }
    // On a page that was loaded again, the tab is made before its notebook is read and before the kernel is connected; an output
    // that is drawn earlier does not find its widgets, and shows an error for good.
    const { context, sessionContext } = notebook;
    if (context.isReady) fill();
    else void Promise.all([context.ready, sessionContext.ready]).then(fill);
    return () => {
      ended = true;
      leave();
    };
  }

  function add(tab: Place): Tab {
    const { notebook } = tab;
    const content = new Panel();
    content.addClass('jp-LinkedOutputView');
    content.addClass('workbench-tab');
    const main = new MainAreaWidget({ content });
    main.toolbar.hide(); // the panel has its own
    main.title.label = name(notebook);
    main.title.caption = `The panel of a cell in ${notebook.context.path}`;
    tabs.set(main, tab);
    const end = follow(main, tab);
    main.disposed.connect(() => {
      end();
      tabs.delete(main);
    });
    labShell.add(main, 'main', { ref: notebook.id, mode: 'tab-after' });
    keep(main, notebook.context.pathChanged);
    return main;
  }

  return {
    // Whether an element belongs to a cell of an open notebook, on the page or scrolled away.
    holds: (element: Node) => place(element) !== undefined,

    // Open the panel that holds an element in a tab next to its notebook, or bring the tab to the front where there is one.
    // false if no open notebook has it among its outputs.
    open(element: unknown): boolean {
      if (!(element instanceof Node)) return false;
      const at = place(element);
      const same = ([main, { notebook, id, output }]: [Tab, Place]) =>
        main.node.contains(element) || (notebook === at?.notebook && id === at.id && output === at.output);
      const main = [...tabs].find(same)?.[0] ?? (at && add(at));
      if (main) labShell.activateById(main.id);
      return Boolean(main);
    },

    // Where a tab's output stands, and the tab again from that.
    where(main: Tab): Where {
      const { notebook, id, output } = tabs.get(main)!;
      return { path: notebook.context.path, id, output };
    },
    restore({ path, id, output }: Where): void {
      const notebook = notebooks.find(one => one.context.path === path);
      if (notebook) add({ notebook, id, output });
    }
  };
}
