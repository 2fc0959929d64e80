"""Jobs from files to files on a cluster, whatever engine runs their tasks.

``jobs`` plans and runs tasks, ``compilation`` makes a snapshot with them, ``paths`` finds inputs and
checks outputs, ``outputs`` publishes them, and ``source`` brings the snapshot to the nodes.
``robosieve.spark`` and ``robosieve.ray`` adapt this to
their engines.
"""
