// "First loop (5 minutes)": the first notebook of the course, which a kernel writes where it is not there yet.

import { PathExt } from '@jupyterlab/coreutils';
import { Contents, ServiceManager } from '@jupyterlab/services';

const FIRST = '01_first_loop.ipynb';
const FOLDER = 'workbench-course';
// What the kernel runs: `workbench course`. Errors say what to change.
const CODE = `from pathlib import Path\nfrom workbench.cli.course import write\nwrite(Path(${JSON.stringify(FOLDER)}), False)`;

const exists = (contents: Contents.IManager, path: string): Promise<boolean> =>
  contents.get(path, { content: false }).then(
    () => true,
    () => false
  );

// The path of the lesson: here, at the top, or in a copy of the course that was written before; else a new copy's.
export async function firstLesson(services: ServiceManager.IManager, cwd: string): Promise<string> {
  const { contents } = services;
  for (const folder of new Set([cwd, PathExt.join(cwd, FOLDER), '', FOLDER])) {
    const path = PathExt.join(folder, FIRST);
    if (await exists(contents, path)) return path;
  }
  await write(services, cwd);
  return PathExt.join(cwd, FOLDER, FIRST);
}

// A kernel in the folder, for as long as it writes.
async function write({ kernelspecs, sessions }: ServiceManager.IManager, cwd: string): Promise<void> {
  await kernelspecs.ready;
  const name = kernelspecs.specs?.default ?? 'python3';
  const path = PathExt.join(cwd, `${FOLDER} (being written)`);
  const session = await sessions.startNew({ name: FOLDER, path, type: 'console', kernel: { name } });
  try {
    const future = session.kernel!.requestExecute({ code: CODE, silent: false, store_history: false, allow_stdin: false });
    const { content } = await future.done;
    if (content.status !== 'error') return;
    const missing = content.ename === 'ModuleNotFoundError' && content.evalue.includes('workbench');
    throw new Error(missing ? `the kernel "${name}" does not have workbench (pip install graph-workbench)` : content.evalue);
  } finally {
    await session.shutdown();
  }
}
