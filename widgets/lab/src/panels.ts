// The panel that a command is meant for.

import { JupyterFrontEnd } from '@jupyterlab/application';

const PANEL = '.workbench-debugger';
const USES = ['pointerdown', 'keydown', 'focusin'];

export function panelsInUse(shell: JupyterFrontEnd.IShell, holds: (element: Element) => boolean) {
  let used: WeakRef<Element> | null = null;
  const note = (event: Event) => {
    const panel = event.target instanceof Element ? event.target.closest(PANEL) : null;
    if (panel) used = new WeakRef(panel);
  };
  for (const kind of USES) document.addEventListener(kind, note, true);

  return {
    // The panel that was used last, unless the document in front has others only; before any use, the first one in sight.
    // null where there is none.
    current(): Element | null {
      const last = used?.deref();
      const lives = last && (last.isConnected || holds(last));
      const front = shell.currentWidget?.node;
      if (lives && front?.contains(last)) return last;
      const seen = [...document.querySelectorAll(PANEL)].filter(panel => panel.getClientRects().length);
      return seen.find(panel => front?.contains(panel)) ?? (lives ? last : seen[0]) ?? null;
    }
  };
}
