// The kernels that read files for panels. Documents share one where that is safe: a kernel that is gone or at work takes no
// further file, and a page joins no kernel of another page, because it could not know when the last document there is closed.

import { ISessionContext, SessionContext, SessionContextDialogs } from '@jupyterlab/apputils';
import { PathExt } from '@jupyterlab/coreutils';
import { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import { Kernel, ServiceManager } from '@jupyterlab/services';
import { registerWidgetManager } from '@jupyter-widgets/jupyterlab-manager';
import { UUID } from '@lumino/coreutils';
import { Signal } from '@lumino/signaling';

import { ask } from './ask';

const GONE: Kernel.Status[] = ['dead', 'autorestarting', 'restarting', 'terminating'];
const MODULE = 'workbench.widgets.jupyter';
// A kernel that has neither begun nor ended a request for this long, and does not answer, is at work.
const PATIENCE_MS = 5000;
// Sessions of files have a path that no file has. It lies in the server's root, so that paths of files hold in the kernel.
const PATH = '.workbench-files-';
export const FILES = 'workbench-files';

export interface Reader {
  readonly localPath: string;
}

// Calls of Python with strings and booleans; JSON's literals of strings are Python's, too.
export const call = (name: string, path: string, rest = '') =>
  `from ${MODULE} import ${name}\n${name}(${JSON.stringify(path)}${rest})`;

export class FileKernel {
  readonly users = new Set<Reader>();

  constructor(
    readonly session: ISessionContext,
    readonly rendermime: IRenderMimeRegistry
  ) {
    // What the widget manager wants of a notebook: a place for saved widgets, of which a file has none.
    const context = {
      sessionContext: session,
      model: { getMetadata: () => undefined, setMetadata: () => undefined },
      saveState: new Signal<this, 'started'>(this),
      urlResolver: rendermime.resolver
    };
    registerWidgetManager(context as unknown as Parameters<typeof registerWidgetManager>[0], rendermime, [].values());
  }

  get kernel(): Kernel.IKernelConnection | null {
    return this.session.session?.kernel ?? null;
  }

  get alive(): boolean {
    return !this.session.isDisposed && this.kernel !== null && !GONE.includes(this.kernel.status);
  }

  // Whether a further file may be read here: the kernel answers, and none of its sessions runs.
  async free(): Promise<boolean> {
    const { kernel } = this;
    if (!kernel || !this.alive) return false;
    let timer = 0;
    let tired = () => {};
    const late = new Promise<null>(resolve => (tired = () => resolve(null)));
    const wait = () => {
      clearTimeout(timer);
      timer = window.setTimeout(tired, PATIENCE_MS);
    };
    kernel.statusChanged.connect(wait);
    wait();
    const runs = await Promise.race([ask(kernel).catch(() => null), late]);
    kernel.statusChanged.disconnect(wait);
    clearTimeout(timer);
    return this.alive && runs !== null && !runs.some(run => run.state === 'running');
  }

  join(user: Reader): void {
    this.users.add(user);
    this.name();
  }

  name(): void {
    const names = [...new Set([...this.users].map(user => PathExt.basename(user.localPath)))];
    void this.session.session?.setName(`Files: ${names.join(', ')}`).catch(() => undefined); // it has gone
  }
}

export class FileKernels {
  constructor(
    private services: ServiceManager.IManager,
    private rendermime: IRenderMimeRegistry
  ) {}

  // The kernel for a file: of its other view, the one that had it before the page was loaded again, one that is free, or a new one.
  take(user: Reader, known?: string): Promise<FileKernel | null> {
    const taken = this.last.then(() => this.find(user, known));
    this.last = taken.catch(() => null);
    return taken;
  }

  // The panel of a closed file ends, the kernel with the last file.
  leave(kernel: FileKernel, user: Reader, path: string): void {
    kernel.users.delete(user);
    if (!kernel.users.size) {
      this.kernels.delete(kernel);
      kernel.session.dispose();
    } else if (kernel.alive && ![...kernel.users].some(other => other.localPath === path)) {
      kernel.kernel!.requestExecute({ code: call('close_file', path), silent: true, store_history: false });
      kernel.name();
    }
  }

  private async find(user: Reader, known?: string): Promise<FileKernel | null> {
    const alive = [...this.kernels].filter(kernel => kernel.alive);
    const holds = (kernel: FileKernel) => [...kernel.users].some(other => other.localPath === user.localPath);
    let found = alive.find(holds) ?? alive.find(kernel => kernel.kernel!.id === known);
    if (!found && known) found = await this.connect(known);
    for (const kernel of alive) if (!found && (await kernel.free())) found = kernel;
    found ??= await this.connect();
    found?.join(user);
    return found ?? null;
  }

  // A new kernel, or a running one of files by its id.
  private async connect(id?: string): Promise<FileKernel | undefined> {
    const { sessions, kernelspecs } = this.services;
    await Promise.all([sessions.ready, kernelspecs.ready]);
    if (id) await sessions.refreshRunning();
    const before = id && [...sessions.running()].find(({ kernel, path }) => kernel?.id === id && path.startsWith(PATH));
    if (id && !before) return undefined;
    const session = new SessionContext({
      sessionManager: sessions,
      specsManager: kernelspecs,
      path: before ? before.path : PATH + UUID.uuid4(),
      name: 'Files',
      type: FILES,
      // Without a default, a machine with several Python kernels asks which one to take.
      kernelPreference: { language: 'python', autoStartDefault: true, shutdownOnDispose: true }
    });
    if (await session.initialize()) await new SessionContextDialogs().selectKernel(session);
    if (!session.session?.kernel) {
      session.dispose();
      return undefined;
    }
    await session.session.kernel.info;
    const made = new FileKernel(session, this.rendermime.clone());
    this.kernels.add(made);
    return made;
  }

  private kernels = new Set<FileKernel>();
  private last: Promise<unknown> = Promise.resolve();
}
