package backend

import (
	"context"
	"maps"
	"slices"

	"google.golang.org/protobuf/proto"

	"assay/impl/backend/config"

	backendv1 "assay/spec/gen/xmtp/backend/v1"
)

// MaxConfigurationBytes bounds the configuration response, which is not subject
// to the response budget: a client reads it to learn that budget.
const MaxConfigurationBytes = 64 << 10

// PublishedConfiguration is what clients may know of the configuration. Its
// numbers are the very values that are enforced (API-131, API-135).
func PublishedConfiguration(c *config.Config) *backendv1.GetConfigurationResponse {
	l := &c.Limits
	return &backendv1.GetConfigurationResponse{
		Identifier:        c.Server.Identifier,
		ServerVersion:     c.Server.Version,
		MinLibxmtpVersion: c.Server.MinLibxmtpVersion,
		Auth:              &backendv1.AuthConfiguration{},
		Retention: &backendv1.RetentionConfiguration{
			GroupMessageSeconds: c.Retention.GroupMessageSeconds,
			WelcomeSeconds:      c.Retention.WelcomeSeconds,
			KeyPackageSeconds:   c.Retention.KeyPackageSeconds,
		},
		Limits: &backendv1.LimitsConfiguration{
			MaxEnvelopeBytes:         l.MaxEnvelopeBytes,
			MaxRequestBytes:          l.MaxRequestBytes,
			MaxResponseBytes:         l.MaxResponseBytes,
			MaxPublishTopics:         l.MaxPublishTopics,
			MaxQueryTopics:           l.MaxQueryTopics,
			MaxQueryLimit:            l.MaxQueryLimit,
			DefaultQueryLimit:        l.DefaultQueryLimit,
			MaxNewestMetadataTopics:  l.MaxNewestMetadataTopics,
			MaxNewestFullTopics:      l.MaxNewestFullTopics,
			MaxUpdateAdds:            l.MaxUpdateAdds,
			MaxUpdateRemoves:         l.MaxUpdateRemoves,
			MaxStreamTopics:          l.MaxStreamTopics,
			MaxStaticTopics:          l.MaxStaticTopics,
			MaxLookupIdentifiers:     l.MaxLookupIdentifiers,
			MaxScwSignatures:         l.MaxSCWSignatures,
			MaxIdentityEntries:       l.MaxIdentityEntries,
			MaxUpdateFramesPerSecond: l.MaxUpdateFramesPerSecond,
			MaxUpdateBurst:           l.MaxUpdateBurst,
			MaxPingFramesPerSecond:   l.MaxPingFramesPerSecond,
			MaxPingBurst:             l.MaxPingBurst,
		},
		Mls: &backendv1.MlsConfiguration{
			MaxGroupMembers:          c.MLS.MaxGroupMembers,
			MaxInstallationsPerInbox: c.MLS.MaxInstallationsPerInbox,
			CommitLogEnabled:         proto.Bool(c.MLS.CommitLogEnabled),
		},
		SmartContractWalletChains: slices.Sorted(maps.Keys(c.Chains)),
	}
}

// configurationService answers with one message for the whole life of the
// process.
type configurationService struct {
	backendv1.UnimplementedConfigurationServiceServer
	published *backendv1.GetConfigurationResponse
}

func (s *configurationService) GetConfiguration(context.Context, *backendv1.GetConfigurationRequest) (*backendv1.GetConfigurationResponse, error) {
	return s.published, nil
}
