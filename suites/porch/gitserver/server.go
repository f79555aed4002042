// Package gitserver serves git repositories over HTTP, without authentication, for the packages of a test. It creates
// a repository at the first request.
package gitserver

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/format/pktline"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/storer"
	"github.com/go-git/go-git/v5/plumbing/transport"
	transportserver "github.com/go-git/go-git/v5/plumbing/transport/server"
	"github.com/go-git/go-git/v5/storage/filesystem"
)

// Branch that every repository starts with.
const Branch = plumbing.ReferenceName("refs/heads/main")

// Server is an http.Handler of git's smart protocol.
type Server struct {
	dir   string
	locks sync.Map // of *sync.RWMutex, by a repository's path: a push is visible completely or not at all
}

// New returns a server of the repositories in a folder.
func New(dir string) *Server { return &Server{dir: dir} }

// ServeHTTP answers /path/to/name.git/info/refs, .../git-upload-pack and .../git-receive-pack.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name, action, found := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), ".git/")
	if !found || !filepath.IsLocal(name) {
		http.NotFound(w, r)
		return
	}
	service := action
	if action == "info/refs" {
		service = r.URL.Query().Get("service")
	}
	if service != transport.UploadPackServiceName && service != transport.ReceivePackServiceName {
		http.Error(w, "this server speaks git's smart protocol only", http.StatusForbidden)
		return
	}
	lock := s.lock(name)
	if action == transport.UploadPackServiceName {
		lock.RLock()
		defer lock.RUnlock()
	} else {
		lock.Lock()
		defer lock.Unlock()
	}
	repository, err := s.open(name)
	if err == nil {
		w.Header().Set("Cache-Control", "no-cache")
		err = serve(w, r, repository, action, service)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

func (s *Server) lock(name string) *sync.RWMutex {
	lock, _ := s.locks.LoadOrStore(name, &sync.RWMutex{})
	return lock.(*sync.RWMutex)
}

// open returns a repository. If there is none, it creates one with an empty first commit.
func (s *Server) open(name string) (storer.Storer, error) {
	dir := filepath.Join(s.dir, name+".git")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("open repository %s: %w", name, err)
	}
	storage := filesystem.NewStorage(osfs.New(dir), cache.NewObjectLRUDefault())
	_, err := storage.Reference(Branch)
	if errors.Is(err, plumbing.ErrReferenceNotFound) {
		err = begin(storage)
	}
	if err != nil {
		return nil, fmt.Errorf("open repository %s: %w", name, err)
	}
	return storage, nil
}

// begin makes the first commit. Its date is fixed, so that every new repository is the same.
func begin(storage *filesystem.Storage) error {
	if err := storage.Init(); err != nil {
		return err
	}
	tree := storage.NewEncodedObject()
	if err := (&object.Tree{}).Encode(tree); err != nil {
		return err
	}
	root, err := storage.SetEncodedObject(tree)
	if err != nil {
		return err
	}
	nobody := object.Signature{Name: "rehearse", Email: "rehearse@localhost", When: time.Unix(0, 0).UTC()}
	encoded := storage.NewEncodedObject()
	if err := (&object.Commit{
		Author: nobody, Committer: nobody, Message: "An empty repository\n",
		TreeHash: root,
	}).Encode(encoded); err != nil {
		return err
	}
	commit, err := storage.SetEncodedObject(encoded)
	if err != nil {
		return err
	}
	return errors.Join(
		storage.SetReference(plumbing.NewSymbolicReference(plumbing.HEAD, Branch)),
		storage.SetReference(plumbing.NewHashReference(Branch, commit)),
	)
}

// single is a loader of one repository.
type single struct{ storer.Storer }

func (s single) Load(*transport.Endpoint) (storer.Storer, error) { return s.Storer, nil }

func serve(w http.ResponseWriter, r *http.Request, repository storer.Storer, action, service string) error {
	server := transportserver.NewServer(single{repository})
	kind := "result"
	if action == "info/refs" {
		kind = "advertisement"
	}
	w.Header().Set("Content-Type", "application/x-"+service+"-"+kind)
	if service == transport.UploadPackServiceName {
		session, err := server.NewUploadPackSession(nil, nil)
		if err != nil {
			return err
		}
		if kind == "advertisement" {
			return advertise(w, service, session)
		}
		return upload(w, r, session)
	}
	session, err := server.NewReceivePackSession(nil, nil)
	if err != nil {
		return err
	}
	if kind == "advertisement" {
		return advertise(w, service, session)
	}
	return receive(w, r, session)
}

func advertise(w http.ResponseWriter, service string, session transport.Session) error {
	references, err := session.AdvertisedReferences()
	if err != nil {
		return err
	}
	references.Prefix = [][]byte{[]byte("# service=" + service), pktline.Flush}
	return references.Encode(w)
}

func upload(w http.ResponseWriter, r *http.Request, session transport.UploadPackSession) error {
	request := packp.NewUploadPackRequest()
	if err := request.Decode(r.Body); err != nil {
		return fmt.Errorf("read the fetch request: %w", err)
	}
	response, err := session.UploadPack(r.Context(), request)
	if err != nil {
		return err
	}
	defer response.Close()
	return response.Encode(w)
}

func receive(w http.ResponseWriter, r *http.Request, session transport.ReceivePackSession) error {
	request := packp.NewReferenceUpdateRequest()
	if err := request.Decode(r.Body); err != nil {
		return fmt.Errorf("read the push: %w", err)
	}
	if !slices.ContainsFunc(request.Commands,
		func(command *packp.Command) bool { return command.Action() != packp.Delete }) {
		request.Packfile = nil // a push that only deletes has none
	}
	report, err := session.ReceivePack(r.Context(), request)
	if report == nil {
		return err
	}
	return report.Encode(w)
}
