# The part of the Makefile that is about this folder. rake builds and tests; where Ruby
# (or its headers, rake, minitest) is missing, each test is reported as skipped.

RUBY_RUN := env RUBY="$${RUBY:-ruby}" sh bindings/ruby/test/run.sh

.PHONY: ruby-libraries demo-ruby bench-ruby
ruby-libraries:
	@$(RUBY_RUN) build >/dev/null || true

$(eval $(call run,ruby-quick,ruby-libraries,$(RUBY_RUN) quick))
$(foreach kind,all demo snapshots bar bench-smoke gem $(addprefix mutants_,1 2 3 4 5 6),\
    $(eval $(call run,ruby-$(kind),ruby-libraries,$(RUBY_RUN) $(kind))))
$(eval $(call run,ruby-debug,,$(RUBY_RUN) debug))
$(eval $(call run,ruby-asan,,$(RUBY_RUN) asan))
$(eval $(call run,ruby-rubies,,$(RUBY_RUN) rubies))
HOST_CHECK_RUNS += ruby-quick ruby-demo ruby-snapshots

# Other versions, which `make deps-all` fetches: version=suite of Debian.
RUBY_VERSIONS := 3.3=trixie 3.4=experimental
define run_ruby_version
.PHONY: ruby-libraries-$(1)
ruby-libraries-$(1):
	@$$(RUBY_RUN) build-$(1) >/dev/null || true
$$(foreach kind,all demo snapshots gem,\
    $$(eval $$(call run,ruby-$$(kind)-$(1),ruby-libraries-$(1),$$(RUBY_RUN) $$(kind)-$(1))))
endef
$(foreach one,$(RUBY_VERSIONS),$(eval $(call run_ruby_version,$(firstword $(subst =, ,$(one))))))

$(eval $(call run,soak-ruby,ruby-libraries,env SOAK_SECONDS=3 $(RUBY_RUN) soak))

.PHONY: soak-ruby
soak-ruby: ## random graphs in Ruby, SOAK_SECONDS=3600: memory must stay flat
	@SOAK_SECONDS=$(SOAK_SECONDS) $(RUBY_RUN) soak

demo-ruby: ## the widget library in Ruby
	@$(RUBY_RUN) show-demo

bench: bench-ruby
bench-ruby: ## what links cost in Ruby
	@$(RUBY_RUN) bench
