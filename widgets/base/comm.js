// What all widgets say to the kernel; esm.py puts it in front of each of them, as prelude.js in front of the small ones.

// Sends a message to the kernel, and says whether somebody may hear it: not after the kernel was restarted or the widget was
// closed, while a view that is still on the page says its last words.
function tell(model, message) {
  try {
    model.send(message);
  } catch {
    return false;
  }
  return true;
}

// Sets what the kernel keeps of a widget, and sends it there.
function keep(model, name, value) {
  try {
    model.set(name, value);
    model.save_changes();
  } catch {
    return false;
  }
  return true;
}
