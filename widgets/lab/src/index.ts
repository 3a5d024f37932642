// The plugins of the extension.

import { panelCommands } from './commands';

export default [panelCommands];
