// Package compat proves with the providers' own libraries that our adapters of language models speak as they do: each
// makes the same requests, against the scripted provider, and the bodies must mean the same; and each reads the
// scripted provider's streams, which shows that it speaks as the provider does. It is a module of its own, because those
// libraries are no part of the product: `make compat` runs it, and builds them first, which takes minutes.
package compat
