// Names that several files use: of the commands, and of the place where the palette lists them.

export const CATEGORY = 'Workbench';

export const Commands = {
  openInTab: 'workbench:open-panel-in-tab'
};
