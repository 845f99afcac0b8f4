// Package console is the command that opens the console. It is the only one that starts another program: the browser.
package console

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os/exec"
	"runtime"

	"quarry/internal/cli/command"
)

// Cmd prints the address of the console with a code that signs the caller in.
type Cmd struct {
	command.Remote
	Open bool `help:"Open the address in the browser as well."`
}

// Help is printed below the usage.
func (Cmd) Help() string {
	return "The address holds a code that signs you in, once and within five minutes; whoever has it signs in as you. It takes a\n" +
		"personal key, such as the owner's.\n\nExample: quarry console --open"
}

// Run prints the address. A key with roles of its own has no person to sign in, so the service refuses it.
func (c *Cmd) Run(e *command.Env) error {
	cl, err := c.Connect()
	if err != nil {
		return err
	}
	var made struct {
		Code    string `json:"code"`
		Expires string `json:"expires_at"`
	}
	if _, err := cl.Call(e.Ctx, http.MethodPost, "/v2/sign_in/codes", nil, &made); err != nil {
		return err
	}
	address := cl.Base + "/console/#code=" + made.Code
	if c.JSON {
		if err := json.NewEncoder(e.Out).Encode(map[string]string{"url": address, "expires_at": made.Expires}); err != nil {
			return fmt.Errorf("print: %w", err)
		}
	} else {
		fmt.Fprintln(e.Out, address)
	}
	if !c.Open {
		return nil
	}
	if err := browse(address); err != nil {
		return command.Failed(command.ExitSomeFailed, "no browser could be started (%v); open the address above by hand", err)
	}
	return nil
}

// browse hands an address to whatever opens addresses on this system. It does not wait for it.
func browse(address string) error {
	name, args := "xdg-open", []string{address}
	switch runtime.GOOS {
	case "darwin":
		name = "open"
	case "windows":
		name, args = "rundll32", []string{"url.dll,FileProtocolHandler", address}
	}
	cmd := exec.Command(name, args...)
	if err := cmd.Start(); err != nil {
		return err
	}
	return cmd.Process.Release()
}
