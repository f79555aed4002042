package releases

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/clusters"
)

// stall is the timeout of a download that delivers nothing.
const stall = time.Minute

// unreachableError reports that a host did not answer. Any HTTP answer, such as a 404, is a different error.
type unreachableError struct{ cause error }

func (e *unreachableError) Error() string { return fmt.Sprintf("cannot reach the host: %v", e.cause) }
func (e *unreachableError) Unwrap() error { return e.cause }

// statusError is an HTTP answer other than 200.
type statusError struct {
	url  string
	code int
}

func (e *statusError) Error() string {
	return fmt.Sprintf("GET %s: %d %s", e.url, e.code, http.StatusText(e.code))
}

// noListError reports that the go command could not list the releases.
type noListError struct{ error }

func (e *noListError) Unwrap() error { return e.error }

// Unanswered reports whether no source gave an answer, or a host failed: the version may well exist.
func Unanswered(err error) bool {
	var unreachable *unreachableError
	var list *noListError
	var status *statusError
	failed := errors.As(err, &status) &&
		(status.code >= http.StatusInternalServerError || status.code == http.StatusTooManyRequests)
	return failed || errors.As(err, &unreachable) || errors.As(err, &list)
}

// NotPublished reports whether the host does not have what was asked for.
func NotPublished(err error) bool {
	var status *statusError
	return errors.As(err, &status) && status.code == http.StatusNotFound
}

func defaultClient() *http.Client {
	return &http.Client{Transport: &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: 10 * time.Second}).DialContext,
		ForceAttemptHTTP2:     true,
		TLSHandshakeTimeout:   10 * time.Second,
		ResponseHeaderTimeout: 30 * time.Second,
	}}
}

// download gets programs from the release host and verifies their published checksums.
func (s *sources) download(ctx context.Context, v clusters.Version, programs []string, dir string) (string, error) {
	base := fmt.Sprintf("%s/release/v%s/bin/%s", s.options.BaseURL, v, strings.ReplaceAll(s.platform, "-", "/"))
	for _, program := range programs {
		if err := s.downloadOne(ctx, base+"/"+program, filepath.Join(dir, program),
			fmt.Sprintf("%s %s", program, v)); err != nil {
			if NotPublished(err) {
				err = fmt.Errorf("%w (no such release or no program for %s; --source=build compiles it from source)", err,
					s.platform)
			}
			return "", fmt.Errorf("cannot download %s of Kubernetes %s: %w", program, v, err)
		}
	}
	return "downloaded from " + base, nil
}

func (s *sources) downloadOne(ctx context.Context, url, path, what string) error {
	published, err := s.getText(ctx, url+".sha256")
	if err != nil {
		return err
	}
	want, _, _ := strings.Cut(published, " ") // "sum" or "sum  name"
	if decoded, err := hex.DecodeString(want); err != nil || len(decoded) != sha256.Size {
		return fmt.Errorf("%s.sha256 contains no SHA-256 sum but %.80q", url, published)
	}
	body, total, err := s.get(ctx, url)
	if err != nil {
		return err
	}
	defer body.Close()
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	sum := sha256.New()
	counter := &byteCounter{what: what, total: total, every: every{now: s.options.Now}, progress: s.options.Progress}
	_, err = io.Copy(io.MultiWriter(file, sum, counter), body)
	err = errors.Join(err, file.Close())
	if ofFile := (*fs.PathError)(nil); errors.As(err, &ofFile) {
		return fmt.Errorf("keep %s: %w", url, ofFile)
	}
	if err != nil {
		return fmt.Errorf("GET %s broke off; try again: %w", url, err)
	}
	if got := hex.EncodeToString(sum.Sum(nil)); !strings.EqualFold(got, want) {
		return fmt.Errorf("%s has the SHA-256 sum %s, but %s is published for it: the file is discarded", url, got, want)
	}
	return nil
}

// getText gets a short text.
func (s *sources) getText(ctx context.Context, url string) (string, error) {
	body, _, err := s.get(ctx, url)
	if err != nil {
		return "", err
	}
	defer body.Close()
	text, err := io.ReadAll(io.LimitReader(body, 4096))
	if err != nil {
		return "", fmt.Errorf("GET %s broke off; try again: %w", url, err)
	}
	return strings.TrimSpace(string(text)), nil
}

// get starts a GET and returns its body, which fails if no data arrives for a while, and its length (-1 if unknown).
func (s *sources) get(ctx context.Context, url string) (io.ReadCloser, int64, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		cancel(nil)
		return nil, 0, err
	}
	response, err := s.options.HTTPClient.Do(request)
	if err != nil {
		defer cancel(nil)
		var certificate *tls.CertificateVerificationError
		if ctx.Err() != nil || errors.As(err, &certificate) {
			return nil, 0, err
		}
		return nil, 0, &unreachableError{cause: err}
	}
	if response.StatusCode != http.StatusOK {
		cancel(nil)
		_ = response.Body.Close()
		return nil, 0, &statusError{url: url, code: response.StatusCode}
	}
	return newPatientBody(ctx, cancel, response.Body, stall), response.ContentLength, nil
}

// patientBody is a body that fails if no data arrives for a while.
type patientBody struct {
	io.ReadCloser
	ctx     context.Context
	cancel  context.CancelCauseFunc
	timer   *time.Timer
	patient time.Duration
}

func newPatientBody(ctx context.Context, cancel context.CancelCauseFunc, body io.ReadCloser,
	patient time.Duration,
) *patientBody {
	timer := time.AfterFunc(patient, func() { cancel(fmt.Errorf("nothing came for %s", patient)) })
	return &patientBody{ReadCloser: body, ctx: ctx, cancel: cancel, timer: timer, patient: patient}
}

func (b *patientBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.timer.Reset(b.patient)
	if err != nil && !errors.Is(err, io.EOF) && b.ctx.Err() != nil {
		err = context.Cause(b.ctx)
	}
	return n, err
}

func (b *patientBody) Close() error {
	b.timer.Stop()
	b.cancel(nil)
	return b.ReadCloser.Close()
}
