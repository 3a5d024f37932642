// The file types that a panel opens, with their icons.

import { DocumentRegistry } from '@jupyterlab/docregistry';
import { LabIcon } from '@jupyterlab/ui-components';

const picture = (inner: string) =>
  `<svg xmlns="http://www.w3.org/2000/svg" width="16" height="16" viewBox="0 0 22 22"><g class="jp-icon3" style="fill:none" ` +
  `stroke="#616161" stroke-width="1.8" stroke-linecap="round" stroke-linejoin="round">${inner}</g></svg>`;
const loop = '<path d="M17 11a6 6 0 1 1-2.4-4.8"/><path d="M15.4 2.6v3.9h-3.9"/>';

export const graphIcon = new LabIcon({
  name: 'workbench:graph',
  svgstr: picture('<circle cx="5" cy="6" r="2.4"/><circle cx="5" cy="17" r="2.4"/><circle cx="17" cy="11" r="2.4"/><path d="M7.4 7l7.2 3M7.4 16l7.2-4"/>')
});
export const traceIcon = new LabIcon({
  name: 'workbench:trace',
  svgstr: picture('<path d="M3 3v16h16"/><path d="M6 6c2 9 5 10 13 10.5"/>')
});
export const findingIcon = new LabIcon({
  name: 'workbench:finding',
  svgstr: picture('<path d="M6 20V3"/><path d="M6 4h11l-2.5 4 2.5 4H6"/>')
});
export const loopIcon = new LabIcon({ name: 'workbench:loop', svgstr: picture(loop + '<circle cx="11" cy="11" r="1.2"/>') });

// The extension says the kind; where it is wrong, the reader of the file says so.
const TYPES: [string, string, string[], LabIcon][] = [
  ['workbench-onnx', 'ONNX model', ['.onnx'], graphIcon],
  ['workbench-graphdef', 'TensorFlow graph', ['.pb', '.pbtxt'], graphIcon],
  ['workbench-exported-program', 'PyTorch exported program', ['.pt2'], graphIcon],
  ['workbench-samediff', 'SameDiff graph', ['.fb', '.sdz'], graphIcon],
  ['workbench-stablehlo', 'MLIR program', ['.mlir'], graphIcon],
  ['workbench-trace', 'Trace of a run', ['.wbtrace'], traceIcon],
  ['workbench-finding', 'Saved panel', ['.wbfinding'], findingIcon]
];
const TEXTS = ['.pbtxt', '.mlir'];

export const fileTypes: Partial<DocumentRegistry.IFileType>[] = TYPES.flatMap(([name, displayName, extensions, icon]) =>
  extensions.map(extension => ({
    name: extensions.length > 1 ? `${name}-${extension.slice(1)}` : name,
    displayName: `${displayName} (${extension})`,
    extensions: [extension],
    mimeTypes: TEXTS.includes(extension) ? ['text/plain'] : ['application/octet-stream'],
    contentType: 'file' as const,
    fileFormat: TEXTS.includes(extension) ? ('text' as const) : ('base64' as const),
    icon
  }))
);
export const extensions = TYPES.flatMap(([, , all]) => all);
