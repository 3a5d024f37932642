// A document whose panel is made by a kernel of its own: the kernel reads the file, and only its widgets reach the page.

import { ISessionContext, ToolbarButton } from '@jupyterlab/apputils';
import { PathExt } from '@jupyterlab/coreutils';
import { ABCWidgetFactory, DocumentRegistry, DocumentWidget, TextModelFactory } from '@jupyterlab/docregistry';
import { OutputAreaModel, SimplifiedOutputArea } from '@jupyterlab/outputarea';
import { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import { Contents, Kernel } from '@jupyterlab/services';
import { notebookIcon, refreshIcon } from '@jupyterlab/ui-components';
import { registerWidgetManager } from '@jupyter-widgets/jupyterlab-manager';
import { Signal } from '@lumino/signaling';
import { Panel, Widget } from '@lumino/widgets';

import { FACTORY } from './names';
import { page } from './page';

const GONE: Kernel.Status[] = ['dead', 'autorestarting', 'restarting', 'terminating'];
const MODULE = 'workbench.widgets.jupyter';

// A model without the content of the file, which may be of any size.
export class FileModelFactory extends TextModelFactory {
  get name(): string {
    return 'workbench-file';
  }
  get contentType(): Contents.ContentType {
    return 'file';
  }
  get fileFormat(): Contents.FileFormat {
    return null;
  }
  preferredLanguage(): string {
    return 'python';
  }
}

export class FilePanel extends Panel {
  constructor(
    private context: DocumentRegistry.Context,
    private rendermime: IRenderMimeRegistry
  ) {
    super();
    this.addClass('workbench-document');
    this.addClass('jp-LinkedOutputView');
    const { sessionContext } = context;
    sessionContext.statusChanged.connect(this.heard, this);
    // What the widget manager wants of a notebook: a place for saved widgets, of which a file has none.
    const context_ = {
      sessionContext,
      model: { getMetadata: () => undefined, setMetadata: () => undefined },
      saveState: new Signal<this, DocumentRegistry.SaveState>(this),
      urlResolver: context.urlResolver
    };
    registerWidgetManager(context_ as unknown as Parameters<typeof registerWidgetManager>[0], rendermime, [].values());
    this.say('Starting a kernel ...', '');
    void Promise.all([context.ready, sessionContext.ready]).then(() => this.open(false));
  }

  // Ask the kernel for the panel: the one that it made of this file before, unless it shall make it anew.
  async open(again: boolean): Promise<void> {
    const { sessionContext, path } = this.context;
    const name = PathExt.basename(path);
    if (this.isDisposed) return;
    const kernel = sessionContext.session?.kernel;
    if (!kernel) {
      this.say(`${name} is not open`, 'It needs a Python kernel, and none was started.', true);
      return;
    }
    this.clear();
    this.area = new SimplifiedOutputArea({ model: new OutputAreaModel({ trusted: true }), rendermime: this.rendermime });
    const waits = page('Opening ...', `${name} is read by the kernel ${kernel.name}.`);
    this.addWidget(waits);
    this.addWidget(this.area);
    // JSON's literals of strings and booleans' names below are Python's too
    const code = `from ${MODULE} import open_file\nopen_file(${JSON.stringify(name)}, again=${again ? 'True' : 'False'})`;
    const future = kernel.requestExecute({ code, store_history: false, allow_stdin: false, stop_on_error: false });
    this.area.future = future;
    const reply = await future.done.catch(() => undefined);
    waits.dispose();
    if (this.isDisposed || reply?.content.status !== 'error') return;
    const { ename, evalue } = reply.content;
    const missing = ename === 'ModuleNotFoundError' && evalue.includes('workbench');
    const fix = `Install it for the kernel "${kernel.name}" (pip install workbench), or choose another kernel.`;
    this.say(`${name} cannot be opened`, missing ? `The kernel does not have workbench. ${fix}` : `${ename}: ${evalue}`, true);
  }

  private heard(_: ISessionContext, status: Kernel.Status): void {
    if (!GONE.includes(status) || this.gone || !this.area) return;
    this.gone = page('The kernel of this panel is gone', 'The last picture stays as it is. Open the file again to go on.', () =>
      this.restart()
    );
    this.gone.addClass('workbench-gone-banner');
    this.insertWidget(0, this.gone);
  }

  async restart(): Promise<void> {
    const { sessionContext } = this.context;
    if (!sessionContext.session?.kernel || sessionContext.session.kernel.status === 'dead') await sessionContext.restartKernel();
    await sessionContext.session?.kernel?.info;
    await this.open(true);
  }

  private say(title: string, words: string, retry = false): void {
    this.clear();
    this.addWidget(page(title, words, retry ? () => this.restart() : undefined));
  }

  private clear(): void {
    for (const old of [...this.widgets] as Widget[]) old.dispose();
    this.gone = null;
    this.area = null;
  }

  private area: SimplifiedOutputArea | null = null;
  private gone: Widget | null = null;
}

export class FileDocument extends DocumentWidget<FilePanel> {}

export class FileWidgetFactory extends ABCWidgetFactory<FileDocument> {
  constructor(
    options: DocumentRegistry.IWidgetFactoryOptions<FileDocument>,
    private rendermime: IRenderMimeRegistry,
    private inNotebook: (path: string) => void
  ) {
    super(options);
  }

  protected createNewWidget(context: DocumentRegistry.Context): FileDocument {
    // Without this, a machine with several Python kernels asks which one to take.
    context.sessionContext.kernelPreference = { ...context.sessionContext.kernelPreference, autoStartDefault: true };
    const content = new FilePanel(context, this.rendermime.clone({ resolver: context.urlResolver }));
    const document = new FileDocument({ content, context });
    const button = (name: string, label: string, icon: ToolbarButton['props']['icon'], onClick: () => void) =>
      document.toolbar.addItem(name, new ToolbarButton({ label, icon, onClick }));
    button('notebook', 'Debug in a notebook', notebookIcon, () => this.inNotebook(context.path));
    button('again', 'Open again', refreshIcon, () => void content.restart());
    return document;
  }
}

export const factoryOptions = (fileTypes: string[]): DocumentRegistry.IWidgetFactoryOptions<FileDocument> => ({
  name: FACTORY,
  label: 'Workbench panel',
  modelName: 'workbench-file',
  fileTypes,
  defaultFor: fileTypes,
  readOnly: true,
  preferKernel: true,
  canStartKernel: true,
  shutdownOnClose: true
});
