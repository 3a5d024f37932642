// The sidebar "Live runs": the open sessions and watches of all running kernels. It starts no kernel.

import { ILayoutRestorer, JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ICommandPalette, Notification } from '@jupyterlab/apputils';
import { PathExt } from '@jupyterlab/coreutils';
import { IDocumentManager } from '@jupyterlab/docmanager';
import { ServiceManager, Session } from '@jupyterlab/services';
import { ISettingRegistry } from '@jupyterlab/settingregistry';
import { Poll } from '@lumino/polling';
import { Widget } from '@lumino/widgets';

import { Answer, AskedKernel, Run } from './ask';
import { FileDocument } from './document';
import { loopIcon } from './filetypes';
import { FILES } from './kernels';
import { CATEGORY, Commands, NOTICE_MS } from './names';

const EVERY_MS = 2000;
const ASKING = 'Asking the running kernels \u2026';
const NONE = 'No session or watch is open in a running kernel. wb.debug, wb.Session and wb.watch start one.';
type GoTo = (session: Session.IModel, run: Run) => void;

const nameOf = (session: Session.IModel) =>
  session.type === FILES ? session.name : PathExt.basename(session.path) || session.name;

class LiveRuns extends Widget {
  constructor(
    private services: ServiceManager.IManager,
    private goTo: GoTo
  ) {
    super();
    this.id = 'workbench-live';
    this.title.icon = loopIcon;
    this.title.caption = 'Live runs of workbench';
    this.addClass('workbench-live');
    this.node.setAttribute('role', 'region');
    this.node.setAttribute('aria-label', 'Live runs');
    this.draw([], ASKING);
    this.poll = new Poll({
      factory: () => this.look(),
      frequency: { interval: EVERY_MS, backoff: true, max: 30_000 },
      standby: () => !this.isVisible || document.hidden,
      auto: false
    });
  }

  protected onAfterShow(): void {
    void this.poll.start().then(() => this.poll.refresh());
  }

  every(interval: number): void {
    this.poll.frequency = { interval, backoff: true, max: Math.max(30_000, interval) };
  }

  dispose(): void {
    this.poll.dispose();
    for (const kernel of this.kernels.values()) kernel.dispose();
    this.kernels.clear();
    super.dispose();
  }

  private async look(): Promise<void> {
    await this.services.sessions.refreshRunning();
    const sessions = [...this.services.sessions.running()].filter(session => session.kernel);
    const ids = new Set(sessions.map(session => session.kernel!.id));
    for (const [id, kernel] of this.kernels) {
      if (ids.has(id)) continue;
      kernel.dispose();
      this.kernels.delete(id);
    }
    const told = await Promise.all(
      sessions.map(async (session): Promise<[Session.IModel, Answer]> => {
        const model = session.kernel!;
        let kernel = this.kernels.get(model.id);
        if (!kernel) {
          kernel = new AskedKernel(this.services.kernels.connectTo({ model, handleComms: false }), () => void this.poll.refresh());
          this.kernels.set(model.id, kernel);
        }
        return [session, await kernel.hear(model.execution_state === 'busy')];
      })
    );
    if (this.isDisposed) return;
    const runs = told.filter(([, answer]) => answer.runs.length);
    const silent = told.filter(([, answer]) => !answer.known).map(([session]) => nameOf(session));
    this.draw(runs, silent.length ? `Not known yet: the runs of ${silent.join(', ')}.` : runs.length ? '' : NONE);
  }

  private draw(told: [Session.IModel, Answer][], note: string): void {
    const text = JSON.stringify([note, ...told.map(([session, answer]) => [session.path, session.kernel?.id, answer])]);
    if (text === this.drawn) return; // what has the focus stays
    this.drawn = text;
    const add = (parent: Element, tag: string, name: string, words = '') => {
      const element = document.createElement(tag);
      element.className = name;
      element.textContent = words;
      parent.append(element);
      return element;
    };
    this.node.replaceChildren();
    add(this.node, 'h2', 'workbench-live-title', 'Live runs');
    if (note) add(this.node, 'p', 'workbench-live-none', note);
    for (const [session, { runs, old }] of told) {
      const box = add(this.node, 'section', 'workbench-live-kernel');
      const files = session.type === FILES;
      const name = nameOf(session);
      add(box, 'h3', 'workbench-live-path', old ? `${name} (busy: as last reported)` : name).title = files ? name : session.path;
      const list = add(box, 'ul', 'workbench-live-runs');
      for (const run of runs) {
        const item = add(list, 'li', 'workbench-live-run');
        item.dataset.state = run.state;
        item.dataset.kind = run.kind;
        const button = add(item, 'button', 'workbench-live-go') as HTMLButtonElement;
        button.title = `Go to ${run.name} in ${files ? name : session.path}`;
        button.addEventListener('click', () => this.goTo(session, run));
        add(button, 'span', 'workbench-live-name', run.name);
        add(button, 'span', 'workbench-live-state', run.state);
        const at = run.iteration === null ? '' : `iteration ${run.iteration.toLocaleString('en')}`;
        add(item, 'div', 'workbench-live-facts', [run.kind, at].filter(Boolean).join(' \u00b7 '));
        if (run.verdict) add(item, 'div', 'workbench-live-verdict', run.verdict);
      }
    }
  }

  private drawn = '';
  private poll: Poll;
  private kernels = new Map<string, AskedKernel>();
}

export const live: JupyterFrontEndPlugin<void> = {
  id: 'workbench:live',
  description: 'Lists the live sessions and watches of all kernels.',
  autoStart: true,
  requires: [IDocumentManager],
  optional: [ICommandPalette, ILayoutRestorer, ISettingRegistry],
  activate(
    app: JupyterFrontEnd,
    documents: IDocumentManager,
    palette: ICommandPalette | null,
    restorer: ILayoutRestorer | null,
    registry: ISettingRegistry | null
  ) {
    // The document of a file, among those that share a kernel, that shows a run.
    function fileOf(session: Session.IModel, name: string): FileDocument | undefined {
      for (const widget of app.shell.widgets('main')) {
        if (!(widget instanceof FileDocument) || widget.content.kernelId !== session.kernel?.id) continue;
        if (widget.node.querySelector(name)) return widget;
      }
      return undefined;
    }
    async function goTo(session: Session.IModel, run: Run): Promise<void> {
      if (session.type === 'console') {
        await app.commands.execute('console:open', { path: session.path });
        return;
      }
      const name = `.workbench-${run.kind === 'watch' ? 'watch' : 'session'}-${run.number}`;
      const file = session.type === FILES ? fileOf(session, name) : undefined;
      if (session.type === FILES && !file) {
        Notification.warning(`${run.name} is not shown in an open document.`, { autoClose: NOTICE_MS });
        return;
      }
      const widget = file ?? documents.findWidget(session.path, null) ?? documents.openOrReveal(session.path);
      if (!widget) {
        Notification.warning(`${session.path} cannot be opened: its kernel has no document.`, { autoClose: NOTICE_MS });
        return;
      }
      app.shell.activateById(widget.id);
      await widget.context.ready;
      widget.node.querySelector(name)?.scrollIntoView({ block: 'center' });
    }
    const list = new LiveRuns(app.serviceManager, (session, run) => void goTo(session, run));
    app.shell.add(list, 'left', { rank: 650 });
    void registry
      ?.load(live.id)
      .then(settings => {
        const set = () => list.every(1000 * (settings.get('seconds').composite as number));
        settings.changed.connect(set);
        set();
      })
      .catch(() => undefined); // it looks as often as it does without settings
    restorer?.add(list, 'workbench-live');
    app.commands.addCommand(Commands.showLive, {
      label: 'Show live runs',
      caption: 'The open sessions and watches of all running kernels',
      icon: loopIcon,
      execute: () => app.shell.activateById(list.id)
    });
    palette?.addItem({ command: Commands.showLive, category: CATEGORY });
  }
};
