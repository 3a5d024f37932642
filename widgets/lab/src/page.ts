// A page of words in a tab. Names of files and messages of kernels are untrusted: they are set as text, never as HTML.

import { Widget } from '@lumino/widgets';

export function page(title: string, words: string, again?: () => unknown): Widget {
  const node = document.createElement('div');
  node.setAttribute('role', 'status');
  const add = (tag: string, text: string) => {
    const element = document.createElement(tag);
    element.textContent = text;
    node.append(element);
    return element;
  };
  add('h2', title);
  for (const line of words.split('\n')) if (line.trim()) add('p', line);
  if (again) {
    const button = add('button', 'Open again');
    button.className = 'jp-mod-styled jp-mod-accept';
    button.addEventListener('click', () => void again());
  }
  const widget = new Widget({ node });
  widget.addClass('workbench-page');
  return widget;
}
