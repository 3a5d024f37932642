// The plugins of the extension.

import { panelCommands } from './commands';
import { files } from './files';
import { layout } from './layout';
import { live } from './live';

export default [panelCommands, files, layout, live];
