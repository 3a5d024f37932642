// Files of graphs, traces and saved panels open in a panel by a double click.

import { ILayoutRestorer, JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ICommandPalette, Notification, WidgetTracker } from '@jupyterlab/apputils';
import { PathExt } from '@jupyterlab/coreutils';
import { FileDialog, IDefaultFileBrowser, IFileBrowserFactory } from '@jupyterlab/filebrowser';
import { IDocumentManager } from '@jupyterlab/docmanager';
import { ILauncher } from '@jupyterlab/launcher';
import { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import { ReadonlyPartialJSONObject } from '@lumino/coreutils';

import { factoryOptions, FileDocument, FileModelFactory, FileWidgetFactory } from './document';
import { extensions, fileTypes, loopIcon } from './filetypes';
import { FileKernels } from './kernels';
import { firstLesson } from './lesson';
import { CATEGORY, Commands, FACTORY, NOTICE_MS } from './names';
import { writeNotebook } from './notebook';

export const files: JupyterFrontEndPlugin<void> = {
  id: 'workbench:files',
  description: 'Opens files of graphs, traces and saved panels in a panel of workbench.',
  autoStart: true,
  requires: [IRenderMimeRegistry, IDocumentManager],
  optional: [ICommandPalette, ILauncher, ILayoutRestorer, IDefaultFileBrowser, IFileBrowserFactory],
  activate(
    app: JupyterFrontEnd,
    rendermime: IRenderMimeRegistry,
    documents: IDocumentManager,
    palette: ICommandPalette | null,
    launcher: ILauncher | null,
    restorer: ILayoutRestorer | null,
    browser: IDefaultFileBrowser | null,
    browsers: IFileBrowserFactory | null
  ) {
    const { commands, docRegistry } = app;
    for (const type of fileTypes) docRegistry.addFileType(type);
    docRegistry.addModelFactory(new FileModelFactory());
    const names = fileTypes.map(type => type.name!);
    const inNotebook = (path: string) => void commands.execute(Commands.inNotebook, { path });
    const factory = new FileWidgetFactory(factoryOptions(names), new FileKernels(app.serviceManager, rendermime), inNotebook);
    docRegistry.addWidgetFactory(factory);

    const tracker = new WidgetTracker<FileDocument>({ namespace: 'workbench-files' });
    factory.widgetCreated.connect((_, document) => {
      const type = docRegistry.getFileTypesForPath(document.context.path)[0];
      document.title.icon = type?.icon ?? loopIcon;
      document.context.pathChanged.connect(() => void tracker.save(document));
      document.content.taken.connect(() => void tracker.save(document));
      void tracker.add(document);
    });
    void restorer?.restore(tracker, {
      command: 'docmanager:open',
      args: ({ context, content }) => {
        const id = content.kernelId;
        return { path: context.path, factory: FACTORY, ...(id && { kernel: { id } }) };
      },
      name: document => document.context.path
    });

    const warn = (words: string) => void Notification.warning(words, { autoClose: NOTICE_MS });
    // The files that a command means: named, or selected in the file browser.
    function chosen(args: ReadonlyPartialJSONObject): string[] {
      if (typeof args.path === 'string') return [args.path];
      const selected = (browsers?.tracker.currentWidget ?? browser)?.selectedItems() ?? [];
      return [...selected].map(item => item.path).filter(path => extensions.includes(PathExt.extname(path)));
    }
    commands.addCommand(Commands.openFile, {
      label: args => (args.isLauncher ? 'Debug a model' : 'Open a model, trace or saved panel ...'),
      caption: 'Choose a model, trace or saved panel and open it in a workbench panel',
      icon: loopIcon,
      execute: async args => {
        if (typeof args.path === 'string') return documents.openOrReveal(args.path, FACTORY);
        const filter = (item: { type: string; name: string }) =>
          item.type === 'directory' || extensions.includes(PathExt.extname(item.name)) ? {} : null;
        const cwd = typeof args.cwd === 'string' ? args.cwd : browser?.model.path;
        const { value } = await FileDialog.getOpenFiles({ manager: documents, title: 'Open in a panel', filter, defaultPath: cwd });
        for (const { path, type } of value ?? []) if (type !== 'directory') documents.openOrReveal(path, FACTORY);
        return undefined;
      }
    });
    commands.addCommand(Commands.firstLoop, {
      label: args => (args.isLauncher ? 'First loop (5 minutes)' : 'First loop (5 minutes): open the first lesson'),
      caption: 'Open the first notebook of the course on loops; a missing course is first written into the folder workbench-course',
      icon: loopIcon,
      execute: async args => {
        const cwd = typeof args.cwd === 'string' ? args.cwd : (browser?.model.path ?? '');
        try {
          documents.openOrReveal(await firstLesson(app.serviceManager, cwd));
        } catch (error) {
          warn(`The first lesson could not be opened: ${(error as Error).message}`);
        }
      }
    });
    commands.addCommand(Commands.inNotebook, {
      label: 'Debug in a notebook',
      caption: 'Write a notebook whose cells open this file in a panel',
      icon: loopIcon,
      execute: async args => {
        const paths = chosen(args);
        if (!paths.length) warn(`Select a file in the file browser first (${extensions.join(', ')}).`);
        for (const path of paths) {
          const specs = app.serviceManager.kernelspecs;
          try {
            await specs.ready;
            documents.openOrReveal(await writeNotebook(app.serviceManager.contents, specs.specs, path));
          } catch (error) {
            warn(`The notebook for ${PathExt.basename(path)} could not be written: ${(error as Error).message}`);
          }
        }
      }
    });
    for (const name of names) {
      app.contextMenu.addItem({
        command: Commands.inNotebook,
        selector: `.jp-DirListing-item[data-file-type="${name}"]`,
        rank: 3
      });
    }
    for (const command of [Commands.openFile, Commands.inNotebook, Commands.firstLoop]) palette?.addItem({ command, category: CATEGORY });
    launcher?.add({ command: Commands.firstLoop, category: 'Other', rank: 4, args: { isLauncher: true } });
    launcher?.add({ command: Commands.openFile, category: 'Other', rank: 5, args: { isLauncher: true } });
  }
};
