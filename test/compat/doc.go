// Package compat proves with the providers' own libraries that our adapters of language models speak as they do: each
// makes the same requests, against the scripted provider, and the bodies must mean the same; and each reads the
// scripted provider's streams, which shows that it speaks as the provider does. From the other side, published clients of
// Vectara's interface and of OpenAI's work against the real program. It is a module of its own, because those libraries are
// no part of the product: `make compat` runs it, and builds or installs them first, which takes minutes.
package compat
