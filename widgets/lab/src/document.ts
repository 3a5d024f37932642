// A document whose panel is made by a kernel: the kernel reads the file, and only its widgets reach the page.

import { ToolbarButton } from '@jupyterlab/apputils';
import { PathExt } from '@jupyterlab/coreutils';
import { ABCWidgetFactory, DocumentRegistry, DocumentWidget, TextModelFactory } from '@jupyterlab/docregistry';
import { OutputAreaModel, SimplifiedOutputArea } from '@jupyterlab/outputarea';
import { Contents, Kernel } from '@jupyterlab/services';
import { notebookIcon, refreshIcon } from '@jupyterlab/ui-components';
import { Signal } from '@lumino/signaling';
import { Panel, Widget } from '@lumino/widgets';

import { call, FileKernel, FileKernels, Reader } from './kernels';
import { FACTORY } from './names';
import { page } from './page';

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

export class FilePanel extends Panel implements Reader {
  // the panel has a kernel, or another one than before
  readonly taken = new Signal<this, void>(this);

  constructor(
    private context: DocumentRegistry.Context,
    private kernels: FileKernels
  ) {
    super();
    this.addClass('workbench-document');
    this.addClass('jp-LinkedOutputView');
    context.pathChanged.connect(() => this.reader?.name());
    this.say('Starting a kernel ...', '');
    void context.ready.then(() => this.open(false));
  }

  get localPath(): string {
    return this.context.localPath;
  }

  get kernelId(): string | undefined {
    return this.reader?.kernel?.id;
  }

  dispose(): void {
    if (this.isDisposed) return;
    this.leave();
    super.dispose();
  }

  // Ask the kernel for the panel: the one that it made of this file before, unless it shall make it anew.
  async open(again: boolean): Promise<void> {
    const path = this.localPath;
    const name = PathExt.basename(path);
    const kernel = await this.reach();
    if (this.isDisposed) return;
    if (!kernel) {
      this.say(`${name} cannot be opened`, 'It needs a Python kernel, and none was started.', true);
      return;
    }
    this.clear();
    this.area = new SimplifiedOutputArea({ model: new OutputAreaModel({ trusted: true }), rendermime: this.reader!.rendermime });
    const waits = page('Opening ...', `The kernel "${kernel.name}" is reading ${name}.`);
    this.addWidget(waits);
    this.addWidget(this.area);
    const renamed = this.opened && this.opened !== path ? `${call('close_file', this.opened)}\n` : '';
    this.opened = path;
    const code = renamed + call('open_file', path, `, again=${again ? 'True' : 'False'}`);
    const future = kernel.requestExecute({ code, store_history: false, allow_stdin: false, stop_on_error: false });
    this.area.future = future;
    const reply = await future.done.catch(() => undefined);
    waits.dispose();
    if (this.isDisposed || reply?.content.status !== 'error') return;
    const { ename, evalue } = reply.content;
    const missing = ename === 'ModuleNotFoundError' && evalue.includes('workbench');
    const fix = 'Install it there (pip install graph-workbench), or choose another kernel under "Debug in a notebook".';
    const without = `The kernel "${kernel.name}" does not have workbench. ${fix}`;
    this.say(`${name} cannot be opened`, missing ? without : `${ename}: ${evalue}`, true);
  }

  // The kernel of this panel; where there is none or it is gone, another one.
  private async reach(): Promise<Kernel.IKernelConnection | null> {
    if (this.reader?.alive) return this.reader.kernel;
    this.leave();
    const reader = await this.kernels.take(this, this.context.sessionContext.kernelPreference.id).catch(() => null);
    if (!reader) return null;
    this.reader = reader;
    if (this.isDisposed) {
      this.leave();
      return null;
    }
    reader.session.statusChanged.connect(this.heard, this);
    this.taken.emit();
    return reader.kernel;
  }

  private leave(): void {
    const { reader } = this;
    this.reader = null;
    if (!reader) return;
    reader.session.statusChanged.disconnect(this.heard, this);
    this.kernels.leave(reader, this, this.opened);
  }

  private heard(): void {
    if (!this.reader || this.reader.alive || this.gone || !this.area) return;
    this.gone = page('The kernel of this panel is gone', 'The panel below shows its last state. Open the file again to continue.', () =>
      this.open(true)
    );
    this.gone.addClass('workbench-gone-banner');
    this.insertWidget(0, this.gone);
  }

  private say(title: string, words: string, retry = false): void {
    this.clear();
    this.addWidget(page(title, words, retry ? () => this.open(true) : undefined));
  }

  private clear(): void {
    for (const old of [...this.widgets] as Widget[]) old.dispose();
    this.gone = null;
    this.area = null;
  }

  private reader: FileKernel | null = null;
  private opened = '';
  private area: SimplifiedOutputArea | null = null;
  private gone: Widget | null = null;
}

export class FileDocument extends DocumentWidget<FilePanel> {}

export class FileWidgetFactory extends ABCWidgetFactory<FileDocument> {
  constructor(
    options: DocumentRegistry.IWidgetFactoryOptions<FileDocument>,
    private kernels: FileKernels,
    private inNotebook: (path: string) => void
  ) {
    super(options);
  }

  protected createNewWidget(context: DocumentRegistry.Context): FileDocument {
    const content = new FilePanel(context, this.kernels);
    const document = new FileDocument({ content, context });
    const button = (name: string, label: string, icon: ToolbarButton['props']['icon'], onClick: () => void) =>
      document.toolbar.addItem(name, new ToolbarButton({ label, icon, onClick }));
    button('notebook', 'Debug in a notebook', notebookIcon, () => this.inNotebook(context.path));
    button('again', 'Open again', refreshIcon, () => void content.open(true));
    return document;
  }
}

export const factoryOptions = (fileTypes: string[]): DocumentRegistry.IWidgetFactoryOptions<FileDocument> => ({
  name: FACTORY,
  label: 'Workbench panel',
  modelName: 'workbench-file',
  fileTypes,
  defaultFor: fileTypes,
  readOnly: true
});
