// Names that several files use: of the commands, and of the place where the palette lists them.

export const CATEGORY = 'Workbench';
export const FACTORY = 'Workbench';
export const NOTICE_MS = 8000;

export const Commands = {
  openInTab: 'workbench:open-panel-in-tab',
  openFile: 'workbench:open-file',
  firstLoop: 'workbench:first-loop',
  inNotebook: 'workbench:debug-in-a-notebook',
  showLive: 'workbench:show-live-runs'
};
