// Sizes and choices of panels: they write them into the browser's storage (widgets/base/dom.js), and JupyterLab's settings keep
// them, so that another browser of the same server has them too.

import { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ISettingRegistry } from '@jupyterlab/settingregistry';
import { JSONExt, JSONObject } from '@lumino/coreutils';
import { Debouncer } from '@lumino/polling';

const PLUGIN = 'workbench:layout';
const STORE = 'workbench:layout';
// there while a change has not reached the settings, for example because the page was left
const UNSAVED = 'workbench:layout-unsaved';
const SETTLED_MS = 800;

function stored(): JSONObject {
  try {
    const value = JSON.parse(localStorage.getItem(STORE) ?? '{}');
    return JSONExt.isObject(value) ? value : {};
  } catch {
    return {}; // a page without storage, or what somebody else wrote there
  }
}

export const layout: JupyterFrontEndPlugin<void> = {
  id: PLUGIN,
  description: 'Keeps the layout of panels in the settings.',
  autoStart: true,
  optional: [ISettingRegistry],
  async activate(_: JupyterFrontEnd, registry: ISettingRegistry | null) {
    const settings = await registry?.load(PLUGIN).catch(() => null);
    if (!settings) return;
    const kept = () => settings.get('keep').composite !== false;
    const take = () => {
      const { composite } = settings.get('layout');
      if (!kept() || !JSONExt.isObject((composite ?? null) as any) || !Object.keys(composite as JSONObject).length) return;
      try {
        localStorage.setItem(STORE, JSON.stringify(composite));
      } catch {
        // full, or forbidden
      }
    };
    const save = new Debouncer(async () => {
      const now = stored();
      if (kept() && !JSONExt.deepEqual(now, (settings.get('layout').composite ?? {}) as JSONObject)) {
        await settings.set('layout', now).catch(() => undefined); // a server whose settings are read-only
      }
      localStorage.removeItem(UNSAVED);
    }, SETTLED_MS);
    window.addEventListener(STORE, () => {
      localStorage.setItem(UNSAVED, 'true');
      void save.invoke();
    });
    if (localStorage.getItem(UNSAVED)) void save.invoke();
    else take();
    settings.changed.connect(() => {
      if (!localStorage.getItem(UNSAVED)) take();
    });
  }
};
