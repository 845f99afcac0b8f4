// Package browser uses the console as people do: a real browser, the real program, what they read and press. In each view it
// asks axe whether everybody can use it, and holds the browser to silence: no error, no violation of the page's policy, no
// request elsewhere, the key nowhere but in the storage of the tab. It is a module of its own, so that the product does not
// depend on a driver of browsers; `make browser` runs it.
package browser
