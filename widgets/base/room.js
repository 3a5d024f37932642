// The height that a box leaves for one of the elements in it, at any depth: its own, without what else is in it.
function roomIn(box, element) {
  const drawn = [...box.children].reduce((sum, child) => sum + child.offsetHeight, 0);
  return box.clientHeight - (drawn - element.offsetHeight);
}
