// Package googletest makes keys of service accounts for tests. It is no part of the product.
package googletest

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"sync"
)

// Private is the key within KeyJSON, one for the whole process.
var Private = sync.OnceValue(func() *rsa.PrivateKey {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return key
})

// KeyJSON is the key file of a service account of the project "acme" whose tokens come from tokenURI.
func KeyJSON(tokenURI string) string {
	der, err := x509.MarshalPKCS8PrivateKey(Private())
	if err != nil {
		panic(err)
	}
	out, err := json.Marshal(map[string]string{
		"type": "service_account", "project_id": "acme", "private_key_id": "k1", "client_email": "quarry@acme.iam.gserviceaccount.com",
		"private_key": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})), "token_uri": tokenURI,
	})
	if err != nil {
		panic(err)
	}
	return string(out)
}
