// Hears of the live runs of a kernel. An idle kernel is asked, by one fixed expression that imports nothing, silently and
// without history. A kernel at work is not: it tells by itself (workbench/recorder/teller.py). A request would wait for its
// cell, and one on a subshell would make JupyterLab show the kernel as idle while the cell runs.

import { Kernel, KernelMessage } from '@jupyterlab/services';

const MODULE = '"workbench.recorder.live_list"';
const MODULES = '__import__("sys").modules';
const EXPRESSION = `${MODULES}[${MODULE}].live_list() if ${MODULE} in ${MODULES} else None`;
const MESSAGE = 'workbench_runs';
const PATIENCE_MS = 1500;
const MOST = 50;
const LONGEST = 200;

export type Run = {
  kind: string;
  number: number;
  name: string;
  state: string;
  iteration: number | null;
  verdict: string;
};
// old: the kernel is busy, or does not answer, and has sent nothing since; `runs` are those of its last answer
// known: false if `runs` is empty because the kernel has not answered yet
export type Answer = { runs: Run[]; old: boolean; known: boolean };

// What a kernel returns is untrusted: anything that is not a run as it should be is left out.
function checked(runs: unknown): Run[] {
  if (!Array.isArray(runs)) return [];
  return runs.slice(0, MOST).flatMap(run => {
    if (!Number.isInteger(run?.number)) return [];
    const text = (key: string) => String(run[key] ?? '').slice(0, LONGEST);
    const iteration = Number.isInteger(run.iteration) ? (run.iteration as number) : null;
    return [{ kind: text('kind'), number: run.number, name: text('name'), state: text('state'), iteration, verdict: text('verdict') }];
  });
}

// The runs of a kernel that is not at work.
export async function ask(kernel: Kernel.IKernelConnection): Promise<Run[]> {
  await kernel.info;
  const future = kernel.requestExecute({
    code: '',
    silent: true,
    store_history: false,
    allow_stdin: false,
    user_expressions: { runs: EXPRESSION }
  });
  const { content } = await future.done;
  const answer = content.status === 'ok' ? (content.user_expressions?.runs as any) : undefined;
  return checked(answer?.data?.['application/json']?.runs);
}

export class AskedKernel {
  constructor(
    private kernel: Kernel.IKernelConnection,
    told: () => void
  ) {
    kernel.iopubMessage.connect((_, message: KernelMessage.IIOPubMessage) => {
      if ((message.header.msg_type as string) !== MESSAGE) return;
      this.last = checked((message.content as unknown as { runs: unknown }).runs);
      this.old = false;
      told();
    });
  }

  async hear(busy: boolean): Promise<Answer> {
    if (!busy) {
      if (!this.pending) this.pending = this.request().finally(() => (this.pending = null));
      await Promise.race([this.pending, new Promise(resolve => setTimeout(resolve, PATIENCE_MS))]);
    }
    const { last } = this;
    const old = this.old && (busy || this.pending !== null);
    return { runs: last ?? [], old, known: last !== null && !(old && !last.length) };
  }

  dispose(): void {
    this.kernel.dispose();
  }

  private async request(): Promise<void> {
    this.last = await ask(this.kernel).catch(() => []); // the kernel has gone
    this.old = true;
  }

  private last: Run[] | null = null;
  private old = true;
  private pending: Promise<void> | null = null;
}
