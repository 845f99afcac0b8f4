package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// The members of CycloneDX 1.5 that a list of parts needs.
type (
	bill struct {
		Format     string      `json:"bomFormat"`
		Spec       string      `json:"specVersion"`
		Serial     string      `json:"serialNumber"`
		Version    int         `json:"version"`
		Metadata   about       `json:"metadata"`
		Components []component `json:"components"`
	}
	about struct {
		Timestamp string    `json:"timestamp"`
		Component component `json:"component"`
	}
	component struct {
		Type     string    `json:"type"`
		Ref      string    `json:"bom-ref"`
		Name     string    `json:"name"`
		Version  string    `json:"version,omitempty"`
		Purl     string    `json:"purl,omitempty"`
		Licences []licence `json:"licenses,omitempty"`
	}
	licence struct {
		Expression string `json:"expression"`
	}
)

// billOfMaterials returns the list of the parts in the format of CycloneDX 1.5. Its serial number is made of version and
// parts, so that the same commit gives the same list.
func billOfMaterials(version string, made time.Time, parts []part) ([]byte, error) {
	b := bill{Format: "CycloneDX", Spec: "1.5", Version: 1, Metadata: about{
		Timestamp: made.Format(time.RFC3339),
		Component: component{Type: "application", Ref: "quarry", Name: "quarry", Version: version, Licences: []licence{{"Apache-2.0"}}},
	}}
	digest := sha256.New()
	fmt.Fprintln(digest, version)
	for _, p := range parts {
		ref := p.purl
		if ref == "" {
			ref = p.name
		}
		b.Components = append(b.Components, component{p.kind, ref, p.name, p.version, p.purl, []licence{{p.licence}}})
		fmt.Fprintln(digest, p.name, p.version, p.licence)
	}
	// A version 8 UUID (RFC 9562): its bits are ours but for those of version and variant.
	u := digest.Sum(nil)[:16]
	u[6], u[8] = u[6]&0x0f|0x80, u[8]&0x3f|0x80
	b.Serial = fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:])
	var out strings.Builder
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(b)
	return []byte(out.String()), err
}
