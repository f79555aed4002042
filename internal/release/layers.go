package main

import (
	"bytes"
	"context"
	"debug/buildinfo"
	"encoding/pem"
	"path"
	"path/filepath"
	"time"

	"golang.org/x/crypto/x509roots/fallback/bundle"

	"github.com/rehearse-dev/rehearse/clusters/releases"
)

// layerPart is the content of one layer, and the time of its files.
type layerPart struct {
	about   string
	at      time.Time
	members []member
}

// always is the time of files that do not come from a commit of Rehearse. So all versions of Rehearse share them.
var always = time.Unix(0, 0).UTC() //nolint:gochecknoglobals // a constant

// partsOf returns the layers of an image, from what changes least to what changes most. Each version of Kubernetes is
// its own layer, which images share.
func partsOf(ctx context.Context, s settings, built *program, kubernetes []string) ([]layerPart, error) {
	parts := []layerPart{system()}
	if len(kubernetes) > 0 {
		store, err := releases.New(releases.Options{})
		if err != nil {
			return nil, err
		}
		for _, version := range kubernetes {
			part, err := controlPlane(ctx, store, built.platform, version)
			if err != nil {
				return nil, err
			}
			parts = append(parts, part)
		}
	}
	modules, err := encodeBOM(built.info, built.version(), built.committed)
	if err != nil {
		return nil, err
	}
	return append(parts, layerPart{about: "rehearse " + built.version(), at: built.committed, members: []member{
		{name: "usr", mode: 0o755},
		{name: "usr/bin", mode: 0o755},
		{name: "usr/bin/rehearse", mode: 0o755, file: built.file},
		{name: "usr/share", mode: 0o755},
		{name: "usr/share/doc", mode: 0o755},
		{name: "usr/share/doc/rehearse", mode: 0o755},
		{name: "usr/share/doc/rehearse/LICENSE", mode: 0o644, file: filepath.Join(s.source, "LICENSE")},
		{name: "usr/share/sbom", mode: 0o755},
		{name: "usr/share/sbom/rehearse.cdx.json", mode: 0o644, data: modules},
	}}), nil
}

// system contains what any program needs: users, root certificates, and a folder for temporary files.
func system() layerPart {
	return layerPart{about: "users, certificates of authorities", at: always, members: []member{
		{name: "etc", mode: 0o755},
		{name: "etc/group", mode: 0o644, data: []byte("root:x:0:\nrehearse:x:65532:\n")},
		{name: "etc/passwd", mode: 0o644, data: []byte("root:x:0:0:root:/:/sbin/nologin\n" +
			"rehearse:x:65532:65532:rehearse:/tmp:/sbin/nologin\n")},
		{name: "etc/ssl", mode: 0o755},
		{name: "etc/ssl/certs", mode: 0o755},
		{name: "etc/ssl/certs/ca-certificates.crt", mode: 0o644, data: authorities()},
		{name: "tmp", mode: 0o1777},
	}}
}

// authorities returns the root certificates of Mozilla's list, as the Go project maintains them. It omits roots that
// are trusted only under a condition, which a file of certificates cannot express.
func authorities() []byte {
	var text bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			text.Write(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}))
		}
	}
	return text.Bytes()
}

// controlPlane returns the programs of a version, and the lists of their modules.
func controlPlane(ctx context.Context, store *releases.Store, p platform, version string) (layerPart, error) {
	files, err := store.Bundle(ctx, version, p.OS+"-"+p.Arch, always)
	if err != nil {
		return layerPart{}, err
	}
	part := layerPart{about: "Kubernetes " + version, at: always}
	folders := map[string]bool{}
	add := func(one member) {
		var missing []string
		for dir := path.Dir(one.name); dir != "." && !folders[dir]; dir = path.Dir(dir) {
			folders[dir] = true
			missing = append([]string{dir}, missing...)
		}
		for _, dir := range missing {
			part.members = append(part.members, member{name: dir, mode: 0o755})
		}
		part.members = append(part.members, one)
	}
	for _, file := range files {
		one := member{name: "usr/share/rehearse/" + file.Name, mode: 0o644, file: file.Path, data: file.Data}
		if file.Path != "" {
			one.mode = 0o755
		}
		add(one)
	}
	for _, file := range files {
		if file.Path == "" {
			continue
		}
		info, err := buildinfo.ReadFile(file.Path)
		if err != nil {
			return part, err
		}
		modules, err := encodeBOM(info, "v"+version, time.Time{})
		if err != nil {
			return part, err
		}
		add(member{
			name: "usr/share/sbom/kubernetes-" + version + "-" + path.Base(file.Name) + ".cdx.json", mode: 0o644, data: modules,
		})
	}
	return part, nil
}
