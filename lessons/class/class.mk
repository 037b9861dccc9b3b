# Grades a class in shards, beside each other, and joins them into one table:
#
#     make -f lessons/class/class.mk -j8 CLASS=DIR SHARDS=8
#
# CLASS      the folder of the class: STUDENT/ID.c
# SHARDS     how many there are: as many as processors unless told
# CSV        the table, class.csv. The tables of the shards lie in CSV.shards. What an interrupted run has graded counts:
#            type the same again to go on. After a change of the class, remove both, or leave the rest to
#            `ferry grade-class DIR --csv class.csv`, which grades what is not in the table.
# OPTIONS    of `ferry grade-class`: OPTIONS='--secret FILE --points FILE --seconds 20'
# JOBS       submissions at once in a shard: 1
# HOSTS      machines to grade on in turn, over ssh: HOSTS='a b c'. They see this folder, the class and ferry by the same names.
# RUN        what starts a command elsewhere, if not ssh: RUN='srun -n 1 -c 2'
# FERRY      the command: that of this checkout, or of this installation

here := $(dir $(realpath $(lastword $(MAKEFILE_LIST))))
FERRY ?= $(firstword $(realpath $(wildcard $(here)../../build/ferry $(here)../../../../bin/ferry)) ferry)
CLASS ?= $(error name the folder of the class: make -f class.mk -j8 CLASS=DIR SHARDS=8)
SHARDS ?= $(shell nproc)
CSV ?= class.csv
JOBS ?= 1

numbers := $(shell seq $(SHARDS))
$(if $(numbers),,$(error SHARDS=$(SHARDS) is no number from 1 on))
shard = $(CSV).shards/$1-of-$(SHARDS).csv
host = $(word $(shell expr '(' $1 - 1 ')' % $(words $(HOSTS)) + 1),$(HOSTS))
on = $(if $(HOSTS),ssh -n $(call host,$1) cd '$(CURDIR)' '&&') $(RUN)

# What the whole table says of the class is told by grade-class, which finds nothing left to grade.
$(CSV): $(foreach i,$(numbers),$(call shard,$i))
	$(FERRY) join-class $@ $^
	$(FERRY) grade-class $(CLASS) --csv $@ $(OPTIONS)
# A shard has its name once it is complete.
$(call shard,%):
	mkdir -p $(@D)
	$(call on,$*) $(FERRY) grade-class $(CLASS) --shard $*/$(SHARDS) --csv $@.part --jobs $(JOBS) $(OPTIONS)
	mv $@.part $@
