package vector

// UnpackTo is what Add reads a stored vector with.
var UnpackTo = unpackTo
