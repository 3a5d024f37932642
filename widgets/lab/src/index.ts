// The plugins of the extension.

import { panelCommands } from './commands';
import { files } from './files';

export default [panelCommands, files];
