// "Debug in a notebook": a notebook with the three cells that open a file in a panel.

import { PathExt } from '@jupyterlab/coreutils';
import { Contents, KernelSpec } from '@jupyterlab/services';

export function cellsFor(name: string): string[] {
  const file = JSON.stringify(name); // a literal of Python's, too
  switch (PathExt.extname(name)) {
    case '.wbtrace':
      return [
        `import workbench as wb\n\ntrace = wb.Trace.load(${file})\ntrace`,
        'wb.widgets.Debugger(trace)',
        '# how a value was computed: trace.explain("x"); two runs compared: wb.diff(trace, other)\nlist(trace.graph.names)'
      ];
    case '.wbfinding':
      return [
        'import workbench as wb',
        `# live=True runs the saved graph to the saved position; without it nothing in the file is executed\npanel = wb.open_finding(${file})`,
        'panel'
      ];
    default:
      return [
        `import workbench as wb\n\ngraph = wb.load(${file})\ngraph`,
        'inputs = wb.example_inputs(graph)  # random values of the right types; replace them by your own\ninputs',
        'wb.debug(graph, inputs)'
      ];
  }
}

// The kernel that the notebook names, without which JupyterLab asks for one when it opens: the server's own one.
function kernelOf(specs: KernelSpec.ISpecModels | null): { kernelspec?: Record<string, string> } {
  const spec = specs?.kernelspecs[specs.default];
  return spec ? { kernelspec: { name: spec.name, display_name: spec.display_name, language: spec.language } } : {};
}

// Write the notebook beside the file, under a name that is free; its path.
export async function writeNotebook(
  contents: Contents.IManager,
  specs: KernelSpec.ISpecModels | null,
  path: string
): Promise<string> {
  const name = PathExt.basename(path);
  const cells = cellsFor(name).map((source, k) => ({
    cell_type: 'code',
    id: `workbench-${k}`,
    metadata: {},
    execution_count: null,
    outputs: [],
    source
  }));
  const content = { nbformat: 4, nbformat_minor: 5, metadata: kernelOf(specs), cells };
  const folder = path.slice(0, path.length - name.length);
  for (let k = 1; ; k++) {
    const target = `${folder}${name} debug${k > 1 ? ` ${k}` : ''}.ipynb`;
    const taken = await contents.get(target, { content: false }).then(
      () => true,
      () => false
    );
    if (taken) continue;
    await contents.save(target, { type: 'notebook', format: 'json', content });
    return target;
  }
}
