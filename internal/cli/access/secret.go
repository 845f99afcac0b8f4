package access

import (
	"encoding/json"
	"fmt"
	"net/http"

	"quarry/internal/cli/command"
	"quarry/internal/secret/seal"
)

// SecretCmd holds the commands about the keys of the installation.
type SecretCmd struct {
	Rotate secretRotateCmd `cmd:"" help:"Seal every stored secret with a fresh secret key, or sign tokens with a fresh signing key."`
	New    secretNewCmd    `cmd:"" help:"Print a fresh secret key for QUARRY_SECRET_KEY."`
}

type secretRotateCmd struct {
	command.Remote
	Signing bool `help:"Replace the key that signs access tokens instead; tokens in use stay valid until they expire."`
}

func (secretRotateCmd) Help() string {
	return "The service keeps running. If a rotation is interrupted, run the command again to finish it. If the keys come from\n" +
		"QUARRY_SECRET_KEY, put a new one first and restart every node before you rotate.\n\nExample: quarry secret rotate\nExample: quarry secret rotate --signing"
}

// rotation is the answer to one step.
type rotation struct {
	Key       string `json:"key_id"`
	Resealed  int    `json:"resealed"`
	Remaining int    `json:"remaining"`
	Done      bool   `json:"done"`
	Advice    string `json:"advice,omitempty"`
}

// Run rotates and prints how many secrets were sealed again.
func (c *secretRotateCmd) Run(e *command.Env) error {
	if c.Signing {
		return c.signing(e)
	}
	cl, err := c.Connect()
	if err != nil {
		return err
	}
	all, err := rotate(e, cl)
	if err != nil {
		return err
	}
	if c.JSON {
		raw, err := json.Marshal(all)
		if err != nil {
			return err
		}
		command.PrintJSON(e.Out, raw)
		return nil
	}
	noun := "secrets"
	if all.Resealed == 1 {
		noun = "secret"
	}
	fmt.Fprintf(e.Out, "%d %s sealed again; everything is sealed under the key %s\n", all.Resealed, noun, all.Key)
	if all.Advice != "" {
		fmt.Fprintln(e.Out, all.Advice)
	}
	return nil
}

// rotate asks for steps until one was the last, and returns their sum.
func rotate(e *command.Env, cl *command.Client) (all rotation, err error) {
	var bar *command.Progress // nil while there was nothing to wait for
	for {
		var step rotation
		_, err := cl.Call(e.Ctx, http.MethodPost, "/v2/secret_keys/rotate", nil, &step)
		step.Resealed += all.Resealed
		if err == nil && bar == nil && !step.Done {
			bar = command.NewProgress(e.Err, step.Resealed+step.Remaining, "secrets")
		}
		if bar != nil && err == nil {
			bar.At(step.Resealed)
		}
		if err != nil || step.Done {
			if bar != nil {
				bar.Done()
			}
			return step, err
		}
		all = step
	}
}

// signing replaces the key that signs access tokens.
func (c *secretRotateCmd) signing(e *command.Env) error {
	type key struct {
		Kid string `json:"kid"`
	}
	_, err := command.Send(e, c.Remote, http.MethodPost, "/v2/signing_keys/rotate", nil, func(v *key) {
		fmt.Fprintf(e.Out, "tokens are signed with the key %s from now on; tokens in use stay valid until they expire\n", v.Kid)
	})
	return err
}

type secretNewCmd struct {
	JSON bool `help:"Print JSON." name:"json"`
}

func (secretNewCmd) Help() string {
	return "Nodes that share a database share the secret keys: newest first, separated by commas. The key that quarry serve\n" +
		"creates by itself is in secret.key of the data folder.\n\nExample: export QUARRY_SECRET_KEY=$(quarry secret new)"
}

// Run prints the key, once: it is kept nowhere.
func (c *secretNewCmd) Run(e *command.Env) error {
	k := seal.NewKey()
	if c.JSON {
		return json.NewEncoder(e.Out).Encode(map[string]string{"secret_key": k.Text(), "key_id": k.ID()})
	}
	fmt.Fprintln(e.Out, k.Text())
	return nil
}
