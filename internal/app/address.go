package app

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"net"
	"strconv"

	"quarry/internal/httpapi/certificate"
)

// openCertificate reads the certificate of the settings, if they name one.
func (a *App) openCertificate() (err error) {
	if a.cfg.TLSCert == "" {
		return nil
	}
	a.shown, err = certificate.Open(certificate.Config{Cert: a.cfg.TLSCert, Key: a.cfg.TLSKey, Log: a.log, Changed: a.publishCertificate})
	if err != nil {
		return &SettingError{err}
	}
	return nil
}

// listen takes the address of the settings, if they name one.
func (a *App) listen(ctx context.Context) error {
	address, err := a.cfg.Address()
	if err != nil {
		return &SettingError{err}
	}
	if address == "" {
		return nil
	}
	if a.listener, err = (&net.ListenConfig{}).Listen(ctx, "tcp", address); err != nil {
		return listenError(address, err)
	}
	if at := a.address(); a.shown == nil && !at.IP.IsLoopback() {
		a.log.Warn("keys and documents travel in clear to "+at.String()+": set tls_cert and tls_key, or listen on 127.0.0.1 behind a proxy that encrypts", "listen", a.cfg.Listen)
	}
	return nil
}

// address returns what the service listens on.
func (a *App) address() *net.TCPAddr { return a.listener.Addr().(*net.TCPAddr) }

// Everywhere reports whether the service listens on every interface of the machine.
func (a *App) Everywhere() bool { return a.address().IP.IsUnspecified() }

// URL returns the address at which this machine reaches the service.
func (a *App) URL() string {
	at := a.address()
	host := net.JoinHostPort(at.IP.String(), strconv.Itoa(at.Port))
	if at.Zone != "" {
		host = net.JoinHostPort(at.IP.String()+"%25"+at.Zone, strconv.Itoa(at.Port))
	}
	if a.Everywhere() {
		host = net.JoinHostPort("127.0.0.1", strconv.Itoa(at.Port))
	}
	if a.shown != nil {
		return "https://" + host
	}
	return "http://" + host
}

// publicURL returns the URL at which people reach the service: the setting, else the listening address as seen from
// this machine, else "" when it does not listen.
func (a *App) publicURL() string {
	if a.cfg.PublicURL != "" || a.listener == nil {
		return a.cfg.PublicURL
	}
	return a.URL()
}

// publish writes the address into the data folder, where commands on this machine find it, and the certificate that
// they expect there.
func (a *App) publish() error {
	if a.shown == nil {
		if err := removeIfThere(a.folder.path(certificateFile)); err != nil {
			return folderError(a.cfg.Data, err)
		}
	} else {
		a.publishCertificate(a.shown.Leaf())
	}
	err := writeSynced(a.folder.path(addressFile), a.URL()+"\n")
	switch {
	case isFull(err):
		a.log.Warn("the disk is too full for the address in the data folder; commands on this machine need --url", "url", a.URL())
		return removeIfThere(a.folder.path(addressFile)) // rather than half of it
	case err != nil:
		return folderError(a.cfg.Data, err)
	}
	return nil
}

// publishCertificate writes the certificate beside the address. Whoever can read the folder knows by it that an address
// of this machine is this service, whatever names the certificate is for.
func (a *App) publishCertificate(leaf *x509.Certificate) {
	if a.folder == nil { // the first one, before anything is open
		return
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: leaf.Raw})
	if err := writeSynced(a.folder.path(certificateFile), string(text)); err != nil {
		a.log.Warn("commands on this machine need --ca until the certificate can be written into the data folder", "error", err)
	}
}

// listenError returns err, met while listening: the setting is wrong where it names a host that there is not.
func listenError(address string, err error) error {
	var unknown *net.DNSError
	if errors.As(err, &unknown) && unknown.IsNotFound {
		return &SettingError{errors.New("setting listen is \"" + address + "\": there is no host " + unknown.Name)}
	}
	return &PortError{address, err}
}
