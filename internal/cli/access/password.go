package access

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"

	"golang.org/x/term"

	"quarry/internal/cli/command"
	"quarry/internal/identity/signin"
)

type userPasswordCmd struct {
	command.Remote
	Name string `arg:"" name:"name" help:"Username."`
}

func (userPasswordCmd) Help() string {
	return "Asks on the terminal, or reads the first line of standard input; a password is never an argument. The\n" +
		"user's tokens become invalid.\n\nExample: quarry user password ann"
}

// Run resets the password and uses the code by itself.
func (c *userPasswordCmd) Run(e *command.Env) error {
	cl, err := c.Connect()
	if err != nil {
		return err
	}
	password, err := askPassword(e, "New password for "+c.Name, true)
	if err != nil {
		return err
	}
	if err := signin.CheckPassword(c.Name, password); err != nil { // before the reset voids the old one
		return command.Failed(command.ExitUsage, "%s", strings.Replace(err.Error(), "password: ", "the password ", 1))
	}
	var code codeView
	if _, err := cl.Call(e.Ctx, http.MethodPost, resetPath(c.Name), nil, &code); err != nil {
		return err
	}
	body := map[string]string{"username": c.Name, "one_time_code": code.Code, "password": password}
	if _, err := cl.Call(e.Ctx, http.MethodPost, "/v2/set_password", body, nil); err != nil {
		return err
	}
	fmt.Fprintf(e.Err, "the password of %s is set\n", c.Name)
	if c.JSON {
		command.PrintJSON(e.Out, []byte("{}"))
	}
	return nil
}

type userResetPasswordCmd struct {
	command.Remote
	Name string `arg:"" name:"name" help:"Username."`
}

func (userResetPasswordCmd) Help() string {
	return "Prints a link, or a code, with which the user sets a new one. The old password and the user's tokens become invalid at\n" +
		"once; API keys stay valid.\n\nExample: quarry user reset-password ann"
}

func (c *userResetPasswordCmd) Run(e *command.Env) error {
	_, err := command.Send(e, c.Remote, http.MethodPost, resetPath(c.Name), nil, func(v *codeView) {
		fmt.Fprintln(e.Out, cmp.Or(v.Link, v.Code))
	})
	if err == nil {
		fmt.Fprintf(e.Err, "give it to %s; it works once, for three days\n", c.Name)
	}
	return err
}

type codeView struct {
	Code string `json:"one_time_code"`
	Link string `json:"one_time_code_link"`
}

func resetPath(user string) string { return "/v2/users/" + command.Segment(user) + "/reset_password" }

// signIn asks for the password of a user and returns an access token.
func signIn(r command.Remote, e *command.Env, name string) (token string, err error) {
	cl, err := r.Reach()
	if err != nil {
		return "", err
	}
	password, err := askPassword(e, "Password of "+name, false)
	if err != nil {
		return "", err
	}
	var t struct {
		Token string `json:"access_token"`
	}
	body := map[string]string{"username": name, "password": password}
	_, err = cl.Call(e.Ctx, http.MethodPost, "/v2/sign_in", body, &t)
	return t.Token, err
}

// askPassword asks on the terminal without showing what is typed, twice for a new one, or reads the first line of
// standard input where that is no terminal.
func askPassword(e *command.Env, prompt string, twice bool) (string, error) {
	f, ok := e.In.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return readLine(e.In)
	}
	first, err := askHidden(e, f, prompt+": ")
	if err != nil || !twice {
		return first, err
	}
	second, err := askHidden(e, f, "Again: ")
	if err == nil && first != second {
		err = command.Failed(command.ExitUsage, "the two are not the same; nothing was changed")
	}
	return first, err
}

// readLine reads a password that ends with the line. One that is longer than any is cut and refused later.
func readLine(in io.Reader) (string, error) {
	if in == nil {
		return "", command.Failed(command.ExitUsage, "no password came on standard input")
	}
	line, err := bufio.NewReader(io.LimitReader(in, signin.MaxPassword+3)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("read password: %w", err)
	}
	if line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r"); line == "" {
		return "", command.Failed(command.ExitUsage, "no password came on standard input")
	}
	return line, nil
}

// askHidden reads a line that the terminal does not show, and leaves the terminal as it was when the command is
// interrupted.
func askHidden(e *command.Env, f *os.File, prompt string) (string, error) {
	was, err := term.GetState(int(f.Fd()))
	if err != nil {
		return "", fmt.Errorf("read terminal: %w", err)
	}
	type line struct {
		text []byte
		err  error
	}
	fmt.Fprint(e.Err, prompt)
	read := make(chan line, 1)
	go func() {
		text, err := term.ReadPassword(int(f.Fd()))
		read <- line{text, err}
	}()
	select {
	case l := <-read:
		fmt.Fprintln(e.Err)
		if l.err != nil {
			return "", fmt.Errorf("read password: %w", l.err)
		}
		return string(l.text), nil
	case <-e.Ctx.Done():
		_ = term.Restore(int(f.Fd()), was) // the command ends either way
		fmt.Fprintln(e.Err)
		return "", e.Ctx.Err()
	}
}
